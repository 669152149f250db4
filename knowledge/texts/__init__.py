"""From bytes to text with positions, one family of formats a file: each module has READER."""
