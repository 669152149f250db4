"""What a secret looks like, one kind a file: each module has DETECTOR."""
