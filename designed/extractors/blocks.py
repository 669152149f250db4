"""A document as blocks with their places: headings, text, tables, fences; and how Markdown becomes one. Pure.

`markdown-it-py` finds Markdown's blocks (it keeps line maps); what is inside a line is left to `flat`, which keeps columns. The other
markups have parsers of their own beside this one (`blocks_rst`, `blocks_adoc`, `blocks_page`); `documents.document_of` picks.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from designed.extractors.flat import MARKDOWN, Flat, flatten, joined
from designed.place import Lines

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_MARKER = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]+")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell as [start, end) of the document; `more` are its further lines where other cells stand between them (grid tables)."""

    start: int
    end: int
    more: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """One block at [start, end). `kind`: heading, text, table, fence.

    `level` is a heading's. `parents` are the leads of the list items around a text, outermost first. `item` is true for the first
    text of a list item. `rows` are a table's, the header first.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    item: bool = False
    quoted: bool = False
    parents: tuple[Block, ...] = ()
    language: str = ""
    indent: int = 0
    rows: tuple[tuple[Cell, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """Blocks of a text, in order, its front matter, and the marks inside its lines (`flat`)."""

    text: str
    lines: Lines
    blocks: tuple[Block, ...]
    front: str = ""
    front_start: int = 0
    marks: re.Pattern[str] = MARKDOWN

    def flat(self, start: int, end: int) -> Flat:
        """The stretch [start, end) without its markup."""
        return flatten(self.text, start, end, self.marks)

    def cell(self, cell: Cell) -> Flat:
        """A table cell without its markup."""
        return joined([self.flat(start, end) for start, end in ((cell.start, cell.end), *cell.more)], " ")[0]

    def row(self, row: Sequence[Cell]) -> tuple[Flat, list[tuple[int, int]]]:
        """A row with ` | ` between its cells, and each cell as [start, end) of it."""
        return joined([self.cell(cell) for cell in row], " | ")


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def parse(text: str, skeleton: str | None = None) -> Document:
    """Any text is Markdown; none raises. `skeleton` is the text as far as it is Markdown, line by line, where not all of it is."""
    front = _FRONT_MATTER.match(text)
    body = text if skeleton is None else skeleton
    if front is not None:
        body = "\n" * text.count("\n", 0, front.end()) + body[front.end() :]
    lines = Lines(text)
    blocks: list[Block] = []
    items: list[Block | None] = []
    quotes = 0
    # `>` and list markers decide nesting; the parser's own limit keeps pathological nesting linear.
    for token in _parser().parse(body):
        kind = token.type
        if kind == "list_item_open":
            items.append(None)
        elif kind == "list_item_close":
            items.pop()
        elif kind == "blockquote_open":
            quotes += 1
        elif kind == "blockquote_close":
            quotes -= 1
        elif kind == "inline" and token.map is not None:
            _text(token, lines, blocks, items, quotes)
        elif kind in ("fence", "code_block") and token.map is not None:
            blocks.append(_fence(token, lines, items))
        elif kind == "heading_open":
            items_level = int(token.tag[1:])
            blocks.append(Block("heading", -1, -1, items_level))
        elif kind == "table_open" and token.map is not None:
            blocks.append(_table(token, lines, items))
    kept = tuple(block for block in blocks if block.start >= 0)
    return Document(text, lines, kept, front[1] if front else "", front.start(1) if front else 0)


def _text(token: Token, lines: Lines, blocks: list[Block], items: list[Block | None], quotes: int) -> None:
    assert token.map is not None
    start, end = lines.start(token.map[0] + 1), lines.start(token.map[1] + 1)
    if blocks and blocks[-1].kind == "heading" and blocks[-1].start < 0:
        level = blocks.pop().level
        lead = _HEADING.match(lines.text, start, end)
        begin = lead.end() if lead else start
        stop = lines.text.find("\n", begin, end)
        stop = end if stop < 0 else stop
        closing = _CLOSING.search(lines.text, begin, stop)
        blocks.append(Block("heading", begin, closing.start() if closing else stop, level))
        return
    if blocks and blocks[-1].kind == "table" and blocks[-1].start <= start < blocks[-1].end:
        return
    parents = tuple(item for item in items if item is not None)
    lead = _MARKER.match(lines.text, start, end) if items else re.compile(r"[ \t>]*").match(lines.text, start, end)
    begin = lead.end() if lead else start
    first = bool(items) and items[-1] is None
    block = Block("text", begin, end, len(items), first, quotes > 0, parents)
    if first:
        items[-1] = block
    blocks.append(block)


def _fence(token: Token, lines: Lines, items: list[Block | None]) -> Block:
    assert token.map is not None
    fenced = token.type == "fence"
    first, last = token.map[0] + (1 if fenced else 0), token.map[1]
    start, end = lines.start(first + 1), lines.start(last + 1)
    body_lines = token.content.count("\n")
    if fenced:
        end = lines.start(first + 1 + body_lines)
    line = lines.text[start : lines.text.find("\n", start)]
    content = token.content.split("\n", 1)[0]
    indent = max(0, len(line) - len(content)) if content and line.endswith(content) else 0
    language = token.info.strip().split(None, 1)[0].strip("{}.") if token.info.strip() else ""
    return Block("fence", start, min(end, len(lines.text)), parents=tuple(i for i in items if i is not None), language=language, indent=indent)


def _table(token: Token, lines: Lines, items: list[Block | None]) -> Block:
    assert token.map is not None
    rows = []
    for number in range(token.map[0] + 1, token.map[1] + 1):
        if number == token.map[0] + 2:
            continue
        start = lines.start(number)
        end = lines.text.find("\n", start)
        rows.append(cells(lines.text, start, len(lines.text) if end < 0 else end))
    return Block(
        "table", lines.start(token.map[0] + 1), lines.start(token.map[1] + 1), parents=tuple(i for i in items if i is not None), rows=tuple(rows)
    )


def cells(text: str, start: int, end: int) -> tuple[Cell, ...]:
    """Cells of a row between bars; a bar in a code span or behind a backslash is none."""
    bounds = [start]
    code = False
    position = start
    while position < end:
        letter = text[position]
        if letter == "\\":
            position += 1
        elif letter == "`":
            code = not code and text.find("`", position + 1, end) >= 0
        elif letter == "|" and not code:
            bounds.append(position)
        position += 1
    bounds.append(end)
    found = []
    for index, (first, last) in enumerate(itertools.pairwise(bounds)):
        begin, stop = first + (1 if index else 0), last
        while begin < stop and text[begin] in " \t>":
            begin += 1
        while stop > begin and text[stop - 1] in " \t":
            stop -= 1
        if begin == stop and index in (0, len(bounds) - 2):
            continue
        found.append(Cell(begin, stop))
    return tuple(found)
