"""What a written document says before names are known: the names it introduces, diagrams in it, variables it mentions. Pure.

Running text, tables and lists are read in a second pass (`designed.extractors.prose`), when the names of all documents of the
namespace are known.
"""

from __future__ import annotations

import re
from functools import partial

from designed.extractors.blocks import Document
from designed.extractors.documents import MARKUPS, document_of
from designed.extractors.introductions import introduced
from designed.fences import read_fence
from designed.reader import Fact, Format, ReadContext, Reading
from designed.readers._yaml import documents
from nexus.model.document import Problem, SourceText

_VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`")


def written(name: str) -> Format:
    """The reader of a markup by its name; no text of it is broken."""
    suffixes, _ = MARKUPS[name]
    return Format(name, partial(_accepts, suffixes), read_written, 90 if name == "text" else 50)


def _accepts(suffixes: frozenset[str], text: SourceText) -> bool:
    # No closure: readers go to other processes.
    return text.suffix in suffixes


def read_written(text: SourceText, context: ReadContext) -> Reading:
    """Claims of diagrams, introduced names, mentioned variables."""
    document = document_of(text)
    _, faults = documents(document.front) if document.front.strip() else ((), ())
    problems = tuple(
        Problem(context.path or text.path, document.lines.line(document.front_start + at), message)
        for at, message in faults
    )
    reading = Reading(entities=tuple(introduced(document)), facts=tuple(_mentions(document, text)), problems=problems)
    for block in document.blocks:
        if block.kind == "fence" and block.language:
            body = text.text[block.start : block.end]
            if block.indent:
                body = "".join(
                    line[block.indent :] if line[: block.indent].isspace() else line
                    for line in body.splitlines(keepends=True)
                )
            found = read_fence(block.language, body, document.lines.line(block.start), context, block.indent)
            if found is not None:
                reading += found
    return reading


def _mentions(document: Document, text: SourceText) -> list[Fact]:
    found: dict[str, Fact] = {}
    for match in _VARIABLE.finditer(text.text):
        found.setdefault(
            match[1], Fact("mention", text.ref.title, match[1], "", document.lines.place(match.start(1), match.end(1)))
        )
    return list(found.values())
