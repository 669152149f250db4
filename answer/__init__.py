"""Questions to grounded answers: packet, narrator, verification."""
