"""AsciiDoc: sections, lists, tables; diagrams in `[mermaid]`, `[plantuml]` and `[graphviz]` blocks."""

from __future__ import annotations

from typing import Final

from designed.reader import Reader
from designed.written import written

READER: Final[Reader] = written("asciidoc")
