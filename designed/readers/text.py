"""Plain text, reStructuredText and AsciiDoc: running text only, in paragraphs.

Their headings, lists and literal blocks are told by shape; markup inside a line that Markdown does not have is left as it is.
"""

from __future__ import annotations

from typing import Final

from designed.extractors.blocks import parse
from designed.extractors.introductions import introduced
from designed.reader import ReadContext, Reader, Reading
from nexus.model.document import SourceText

SUFFIXES: Final = frozenset({".txt", ".rst", ".adoc", ".asciidoc", ".text", ".html", ".htm", ".docx", ".pdf"})


class Text:
    """Reads text that has no better reader."""

    name = "text"
    order = 90

    def accepts(self, text: SourceText) -> bool:
        """By suffix; documents of a word processor come as text already."""
        return text.suffix in SUFFIXES

    def read(self, text: SourceText, context: ReadContext) -> Reading:  # noqa: ARG002  # the port's
        """Introduced names."""
        return Reading(entities=tuple(introduced(parse(text.text))))


READER: Final[Reader] = Text()
