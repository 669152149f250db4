"""Narrators, one a file: each puts a packet into words and sees nothing else."""
