"""Markdown (CommonMark with tables and front matter): names it introduces, diagrams and manifests in its code fences.

Running text, tables and lists are read in a second pass (`designed.extractors.prose`), when the names of all documents of
the namespace are known.
"""

from __future__ import annotations

import re
from typing import Final

from designed.extractors.blocks import Document, parse
from designed.extractors.introductions import introduced
from designed.fences import read_fence
from designed.reader import Fact, ReadContext, Reader, Reading
from nexus.model.document import SourceText

SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx", ".mkd"})
_VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`")


class Markdown:
    """Reads any Markdown text; none is broken."""

    name = "markdown"
    order = 50

    def accepts(self, text: SourceText) -> bool:
        """By suffix."""
        return text.suffix in SUFFIXES

    def read(self, text: SourceText, context: ReadContext) -> Reading:
        """Claims of fences, introduced names, mentioned variables."""
        document = parse(text.text)
        reading = Reading(entities=tuple(introduced(document)), facts=tuple(_mentions(document, text)))
        for block in document.blocks:
            if block.kind == "fence" and block.language:
                body = text.text[block.start : block.end]
                if block.indent:
                    body = "".join(line[block.indent :] if line[: block.indent].isspace() else line for line in body.splitlines(keepends=True))
                found = read_fence(block.language, body, document.lines.line(block.start), context, block.indent)
                if found is not None:
                    reading += found
        return reading


def _mentions(document: Document, text: SourceText) -> list[Fact]:
    found: dict[str, Fact] = {}
    for match in _VARIABLE.finditer(text.text):
        found.setdefault(match[1], Fact("mention", text.ref.title, match[1], "", document.lines.place(match.start(1), match.end(1))))
    return list(found.values())


READER: Final[Reader] = Markdown()
