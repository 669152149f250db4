"""A document as blocks with their places: headings, text, tables, fences. Pure.

Each markup has a parser beside this module (`blocks_markdown`, `blocks_rst`, ...); `documents.document_of` picks. What is inside a line is left
to `flat`, which keeps columns.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from designed.extractors.flat import MARKDOWN, Flat, flatten, joined
from designed.place import Lines

# What a row is cut at: bars, and what hides them.
_BAR = re.compile(r"\\.|`|\|", re.DOTALL)


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
    _flats: dict[tuple[int, int], Flat] = field(default_factory=dict, repr=False, compare=False)
    _heads: list[Block] = field(default_factory=list, repr=False, compare=False)

    def heads_before(self, offset: int, most: int) -> list[Block]:
        """The last headings and paragraphs outside lists before an offset, at most so many, in order."""
        if not self._heads:
            self._heads.extend(b for b in self.blocks if not b.item and b.kind in ("text", "heading"))
        end = bisect_left(self._heads, offset, key=lambda b: b.start)
        return self._heads[max(0, end - most) : end]

    def flat(self, start: int, end: int) -> Flat:
        """The stretch [start, end) without its markup."""
        # Every extractor asks for the same stretches.
        found = self._flats.get((start, end))
        if found is None:
            found = self._flats[start, end] = flatten(self.text, start, end, self.marks)
        return found

    def cell(self, cell: Cell) -> Flat:
        """A table cell without its markup."""
        return joined([self.flat(start, end) for start, end in ((cell.start, cell.end), *cell.more)], " ")[0]

    def row(self, row: Sequence[Cell]) -> tuple[Flat, list[tuple[int, int]]]:
        """A row with ` | ` between its cells, and each cell as [start, end) of it."""
        return joined([self.cell(cell) for cell in row], " | ")


def cells(text: str, start: int, end: int) -> tuple[Cell, ...]:
    """Cells of a row between bars; a bar in a code span or behind a backslash is none."""
    bounds = [start]
    code = False
    for match in _BAR.finditer(text, start, end):
        if match[0] == "`":
            code = not code and text.find("`", match.end(), end) >= 0
        elif match[0] == "|" and not code:
            bounds.append(match.start())
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
