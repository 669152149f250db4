"""Documents to claims, claims to designed edges."""
