"""Diagrams and manifests in code fences of a Markdown document. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from designed.reader import ReadContext, Reading
from designed.readers import dot, mermaid, plantuml, structurizr_dsl

# Language (first word of the info string, lower case) -> reader of a block: (body, first line in the document, column offset, context).
Block = Callable[[str, int, int, ReadContext], Reading]
BLOCKS: Final[dict[str, Block]] = {
    **dict.fromkeys(("mermaid", "mmd"), mermaid.read_block),
    **dict.fromkeys(("plantuml", "puml", "uml", "c4plantuml"), plantuml.read_block),
    **dict.fromkeys(("dot", "graphviz", "gv"), dot.read_block),
    **dict.fromkeys(("structurizr", "dsl"), structurizr_dsl.read_block),
}


def read_fence(
    language: str, body: str, first_line: int, context: ReadContext, column_offset: int = 0
) -> Reading | None:
    """Read a fence's body (without the fence lines), or None where the language is no diagram.

    `first_line` is the document's line of the body's first line; `column_offset` the characters that the fence's indentation
    took off each line (0 where the body is verbatim).
    """
    block = BLOCKS.get(language.strip().lower())
    return None if block is None else block(body, first_line, column_offset, context)
