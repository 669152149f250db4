"""Variables that a service's own README lists: they tell which values of a shared ConfigMap the service uses. Pure."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from designed.place import Lines
from designed.reader import Fact
from nexus.model.document import SourceText

_VARIABLE: Final = re.compile(r"(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)")


def env_mentions(text: SourceText) -> tuple[Fact, ...]:
    """One fact a variable named in the document, with the folder that the document describes as subject."""
    folder = posixpath.basename(posixpath.dirname(text.path))
    if not folder:
        return ()
    lines = Lines(text.text)
    found: dict[str, Fact] = {}
    for match in _VARIABLE.finditer(text.text):
        name = match.group(0)
        if name not in found:
            found[name] = Fact("mention", folder, name, "", lines.place(match.start(), match.end()))
    return tuple(found.values())
