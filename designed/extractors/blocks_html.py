"""HTML as it comes from the collecting side: Markdown, but for tables, whose rows may run over lines. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from designed.extractors.blocks import Block, Cell, Document, cells
from designed.extractors.blocks_markdown import parse

# A row begins with the bar of its first cell and ends with a bar that nothing follows.
_ROW = re.compile(r"^[ \t]*\|(?:[^\n]|\n(?!\n))*?\|[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```[ \t]*$", re.MULTILINE | re.DOTALL)


def parse_html(text: str) -> Document:
    """Any text; none raises."""
    fences = [match.span() for match in _FENCE.finditer(text)]
    tables: list[list[tuple[int, int]]] = []
    for match in _ROW.finditer(text):
        if any(start <= match.start() < end for start, end in fences):
            continue
        if tables and not text[tables[-1][-1][1] : match.start()].strip():
            tables[-1].append(match.span())
        else:
            tables.append([match.span()])
    pieces, position = [], 0
    for first, last in [(table[0][0], table[-1][1]) for table in tables]:
        pieces += [text[position:first], re.sub(r"[^\n]", "", text[first:last])]
        position = last
    document = parse(text, _unindented("".join([*pieces, text[position:]])))
    blocks = [*document.blocks, *(block for table in tables if (block := _table(text, table)) is not None)]
    return replace(document, blocks=tuple(sorted(blocks, key=lambda b: b.start)))


def _unindented(text: str) -> str:
    """White space of the source before text means nothing; in listings and before the items of a list it does."""
    lines, listing = text.split("\n"), False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            listing = not listing
        elif not listing and not line.lstrip().startswith("- "):
            lines[number] = line.lstrip()
    return "\n".join(lines)


def _table(text: str, rows: list[tuple[int, int]]) -> Block | None:
    kept = [row for start, end in rows if (row := tuple(_bare(text, cell) for cell in cells(text, start, end)))]
    return Block("table", rows[0][0], rows[-1][1], rows=tuple(kept)) if len(kept) > 1 else None


def _bare(text: str, cell: Cell) -> Cell:
    start, end = cell.start, cell.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Cell(start, end)
