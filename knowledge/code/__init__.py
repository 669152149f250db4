"""The code index: symbols, values and permission gates of source files, and the names in documents that are bound to them."""
