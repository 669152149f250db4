"""Paths of files that a document includes: inside the ingested root, or none. Pure."""

from __future__ import annotations

import posixpath


def beside(path: str, name: str) -> str | None:
    """`name` as seen from the document at `path`; None for URLs, absolute paths and paths that leave the root."""
    name = name.strip().strip("\"'")
    if not name or "://" in name or "\\" in name or name.startswith(("/", "~", "<")):
        return None
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    return None if found == ".." or found.startswith(("../", "/")) else found
