"""Building a document's blocks line by line, for markups whose parsers keep no places. Pure."""

from __future__ import annotations

import re

from designed.extractors.blocks import Block, Cell, Document
from designed.place import Lines

# A diagram or listing may carry its language as an extension's name.
LANGUAGES = {"uml": "plantuml", "graph": "dot", "digraph": "dot", "graphviz": "dot"}


class Outline:
    """`lines[i]` is a line without its end; blocks are added in order, with line numbers from 0."""

    def __init__(self, text: str, marks: re.Pattern[str]) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._places = Lines(text)
        self._marks = marks
        self._blocks: list[Block] = []

    def offset(self, line: int, column: int = 0) -> int:
        """Offset of a line's column; the text's end for a line behind it."""
        return min(self._places.start(line + 1) + column, len(self.text))

    def indent(self, line: int) -> int:
        """White space before a line's first character; a large number for an empty line."""
        bare = self.lines[line].lstrip(" \t")
        return len(self.lines[line]) - len(bare) if bare else 1 << 30

    def heading(self, line: int, level: int, column: int = 0, end: int | None = None) -> None:
        """A heading at [column, end) of one line."""
        stop = len(self.lines[line].rstrip()) if end is None else end
        self._blocks.append(Block("heading", self.offset(line, column), self.offset(line, stop), level))

    def paragraph(
        self, first: int, last: int, column: int = 0, parents: tuple[Block, ...] = (), *, item: bool = False
    ) -> Block:
        """Text of the lines [first, last), from `column` of the first."""
        block = Block("text", self.offset(first, column), self.offset(last), len(parents) + item, item, parents=parents)
        self._blocks.append(block)
        return block

    def fence(self, first: int, last: int, language: str = "", parents: tuple[Block, ...] = ()) -> None:
        """A listing or diagram of the lines [first, last), all indented by what the least indented of them is."""
        indent = min((self.indent(line) for line in range(first, last)), default=0)
        language = language.strip().casefold()
        self._blocks.append(
            Block(
                "fence",
                self.offset(first),
                self.offset(last),
                parents=parents,
                language=LANGUAGES.get(language, language),
                indent=indent if indent < 1 << 30 else 0,
            )
        )

    def table(self, rows: list[tuple[Cell, ...]], parents: tuple[Block, ...] = ()) -> None:
        """A table, its header first."""
        rows = [row for row in rows if row]
        if len(rows) > 1:
            self._blocks.append(Block("table", rows[0][0].start, rows[-1][-1].end, parents=parents, rows=tuple(rows)))

    def cell(self, line: int, start: int, end: int) -> tuple[int, int]:
        """[start, end) of one line as offsets, without the white space around it."""
        part = self.lines[line][start:end]
        begin = start + len(part) - len(part.lstrip())
        return self.offset(line, begin), self.offset(line, max(begin, start + len(part.rstrip())))

    def document(self) -> Document:
        """What was built."""
        return Document(self.text, self._places, tuple(self._blocks), marks=self._marks)


def cell_of(pieces: list[tuple[int, int]]) -> Cell:
    """A cell of the pieces that are not empty."""
    kept = [piece for piece in pieces if piece[0] < piece[1]] or pieces[:1]
    return Cell(*kept[0], tuple(kept[1:]))
