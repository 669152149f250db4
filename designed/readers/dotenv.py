"""`.env` files: values that compose files and scripts of the same folder refer to. No claims of their own."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from designed.place import Lines
from designed.reader import Fact, Format, ReadContext, Reader, Reading
from nexus.model.document import SourceText

_LINE: Final = re.compile(
    r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.]*)[ \t]*=[ \t]*(\"[^\"\n]*\"|'[^'\n]*'|[^\n]*?)[ \t]*(?:[ \t]#[^\n]*)?$",
    re.MULTILINE,
)


def accepts(text: SourceText) -> bool:
    """`.env`, `.env.local`, `name.env`."""
    name = posixpath.basename(text.path)
    return name == ".env" or name.startswith(".env.") or name.endswith(".env")


def read(text: SourceText, context: ReadContext) -> Reading:
    """One fact a variable."""
    del context
    lines = Lines(text.text)
    return Reading(
        facts=tuple(
            Fact("dotenv", "", m.group(1), m.group(2).strip("\"'"), lines.place(m.start(), m.end()))
            for m in _LINE.finditer(text.text)
        )
    )


READER: Final[Reader] = Format("dotenv", accepts, read, 10)
