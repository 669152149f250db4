"""Seams to the outside, one Protocol a concern, five methods at most. Doubles are in `nexus.testing`."""
