"""Finding passages: two searches, one fusion, and what is fetched beside it."""
