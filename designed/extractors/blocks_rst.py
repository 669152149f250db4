"""reStructuredText, with Sphinx's directives, as blocks with their places. Pure.

docutils keeps lines of some nodes and columns of none, and knows no Sphinx directive, so what a claim quotes could not be found again.
"""

from __future__ import annotations

import itertools
import re

from designed.extractors.blocks import Block, Cell, Document
from designed.extractors.flat import RESTRUCTURED
from designed.extractors.outline import Outline, cell_of

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣⁃]|(?:\(?(?:\d+|#|[A-Za-z]|[ivxlIVXL]+)[.)]))[ \t]+(?=\S)")
_FIELD = re.compile(r"[ \t]*:[A-Za-z][^:\n`]*:(?=\s|$)")
_DIRECTIVE = re.compile(r"[ \t]*\.\. (?:\|[^|]+\| )?([A-Za-z][\w:.+-]*)::[ \t]*(.*)$")
_EXPLICIT = re.compile(r"[ \t]*(?:\.\.|__)(?:[ \t]|$)")
_GRID = re.compile(r"[ \t]*\+(?:[-=]+\+)+[ \t]*$")
_SIMPLE = re.compile(r"[ \t]*=+(?:[ \t]+=+)+[ \t]*$")
_CODE = frozenset({"code", "code-block", "sourcecode", "highlight"})
_DIAGRAMS = frozenset({"mermaid", "uml", "plantuml", "graphviz", "digraph", "graph"})
# Directives whose content is text of the document.
_TEXT = frozenset(
    "note warning tip important caution attention hint danger error seealso admonition topic sidebar container deprecated versionadded versionchanged "
    "rubric epigraph highlights pull-quote compound only tabs tab tab-item tab-set dropdown card grid grid-item-card details collapse table rst-class centered".split()
)
# Nesting that people write; deeper is read as text of this depth.
MAX_DEPTH = 20


def parse_rst(text: str) -> Document:
    """Any text; none raises."""
    outline = Outline(text, RESTRUCTURED)
    _Reader(outline).body(0, len(outline.lines), 0, ())
    return outline.document()


class _Reader:
    def __init__(self, outline: Outline) -> None:
        self._out = outline
        self._levels: dict[str, int] = {}

    def body(self, at: int, last: int, indent: int, parents: tuple[Block, ...], depth: int = 0) -> None:
        """Lines [at, last), which are indented by at least `indent`."""
        out = self._out
        while at < last:
            line = out.lines[at]
            if not line.strip():
                at += 1
            elif (step := self._marked(at, last, indent, parents, depth)) is not None:
                at = step
            elif (marker := _BULLET.match(line)) is not None or (marker := _FIELD.match(line)) is not None:
                at = self._item(at, last, marker, parents, depth)
            elif out.indent(at) > indent and depth < MAX_DEPTH:
                end = self._deeper(at, last, out.indent(at) - 1)
                self.body(at, end, out.indent(at), parents, depth + 1)
                at = end
            else:
                at = self._paragraph(at, last, parents, depth)

    def _marked(self, at: int, last: int, indent: int, parents: tuple[Block, ...], depth: int) -> int | None:
        """The line after a title, directive or table that begins at `at`; None where none does."""
        if (
            (end := self._title(at, last, indent)) is None
            and (end := self._explicit(at, last, parents, depth)) is None
            and (end := self._grid(at, last, parents)) is None
        ):
            end = self._simple(at, last, parents)
        return end

    def _deeper(self, at: int, last: int, indent: int) -> int:
        """The end of the lines from `at` that are empty or indented by more than `indent`, without empty ones at the end."""
        end = at
        for line in range(at, last):
            if self._out.indent(line) <= indent:
                break
            if self._out.lines[line].strip():
                end = line + 1
        return max(end, at)

    def _title(self, at: int, last: int, indent: int) -> int | None:
        lines = self._out.lines
        if indent or (lines[at][0] in " \t" and not _RULE.match(lines[at])):
            return None
        over = _RULE.match(lines[at])
        if over is not None:
            if (
                at + 2 < last
                and lines[at + 1].strip()
                and (under := _RULE.match(lines[at + 2])) is not None
                and under[1] == over[1]
            ):
                self._out.heading(at + 1, self._level(over[1] * 2), len(lines[at + 1]) - len(lines[at + 1].lstrip()))
                return at + 3
            # A transition, or a rule that belongs to nothing.
            return at + 1 if not _SIMPLE.match(lines[at]) else None
        if (
            at + 1 < last
            and (under := _RULE.match(lines[at + 1])) is not None
            and len(lines[at + 1].rstrip()) * 2 >= len(lines[at].rstrip())
        ):
            self._out.heading(at, self._level(under[1]))
            return at + 2
        return None

    def _level(self, mark: str) -> int:
        """In reStructuredText the order of first use decides."""
        return self._levels.setdefault(mark, len(self._levels) + 1)

    def _explicit(self, at: int, last: int, parents: tuple[Block, ...], depth: int) -> int | None:
        """Directives, comments, targets and footnotes: `.. name:: argument` with an indented body."""
        line = self._out.lines[at]
        if _EXPLICIT.match(line) is None:
            return None
        indent = self._out.indent(at)
        end = self._deeper(at + 1, last, indent)
        directive = _DIRECTIVE.match(line)
        if directive is None:
            return max(end, at + 1)
        name = directive[1].casefold().rpartition(":")[2]
        first = at + 1
        # Options are indented like the body and stand before it.
        while first < end and _FIELD.match(self._out.lines[first]):
            first += 1
        body = next((n for n in range(first, end) if self._out.lines[n].strip()), end)
        if name in _CODE or name in _DIAGRAMS:
            self._out.fence(body, end, directive[2] if name in _CODE else name, parents)
        elif name == "list-table":
            self._list_table(body, end, parents)
        elif name == "csv-table":
            self._out.table([self._comma_row(n) for n in range(body, end) if self._out.lines[n].strip()], parents)
        elif name in _TEXT and depth < MAX_DEPTH:
            if directive[2] and name not in (
                "deprecated",
                "versionadded",
                "versionchanged",
                "container",
                "only",
                "table",
            ):
                self._out.paragraph(at, first, directive.start(2), parents)
            if body < end:
                self.body(body, end, self._out.indent(body), parents, depth + 1)
        return max(end, at + 1)

    def _item(self, at: int, last: int, marker: re.Match[str], parents: tuple[Block, ...], depth: int) -> int:
        end = max(self._deeper(at + 1, last, self._out.indent(at)), at + 1)
        field = marker.re is _FIELD
        text = self._text_end(at + 1, end)
        head = self._out.paragraph(
            at, text, len(marker[0]) if not field else self._out.indent(at) + 1, parents, item=True
        )
        if text < end and depth < MAX_DEPTH:
            inner = min(self._out.indent(n) for n in range(text, end))
            self.body(text, end, inner if inner < 1 << 30 else 0, (*parents, head), depth + 1)
        return end

    def _text_end(self, at: int, last: int) -> int:
        """Where the paragraph that began before `at` ends: at an empty line, or at an item of a list below it."""
        while (
            at < last
            and self._out.lines[at].strip()
            and not _BULLET.match(self._out.lines[at])
            and not _EXPLICIT.match(self._out.lines[at])
        ):
            at += 1
        return at

    def _paragraph(self, at: int, last: int, parents: tuple[Block, ...], depth: int) -> int:
        out = self._out
        indent = out.indent(at)
        end = at + 1
        while (
            end < last
            and out.lines[end].strip()
            and out.indent(end) <= indent
            and not (end > at + 1 and _RULE.match(out.lines[end]))
        ):
            end += 1
        if end == at + 1 and end < last and out.lines[end].strip() and out.indent(end) > indent and depth < MAX_DEPTH:
            # A term, and what is said about it.
            head = out.paragraph(at, end, indent, parents, item=True)
            stop = self._deeper(end, last, indent)
            self.body(end, stop, out.indent(end), (*parents, head), depth + 1)
            return stop
        while (
            end < last
            and out.lines[end].strip()
            and not _BULLET.match(out.lines[end])
            and out.indent(end) < 1 << 30
            and out.indent(end) > indent
        ):
            end += 1
        literal = out.lines[end - 1].rstrip().endswith("::")
        if out.lines[at].strip() != "::":
            out.paragraph(at, end, indent, parents)
        if literal:
            stop = self._deeper(end, last, indent)
            first = next((n for n in range(end, stop) if out.lines[n].strip()), stop)
            if first < stop:
                out.fence(first, stop, "", parents)
                return stop
        return end

    def _grid(self, at: int, last: int, parents: tuple[Block, ...]) -> int | None:
        """`+---+---+` tables; a row's lines are joined cell by cell."""
        lines = self._out.lines
        if _GRID.match(lines[at]) is None:
            return None
        end = at
        while end < last and re.match(r"[ \t]*[+|]", lines[end]):
            end += 1
        rows: list[tuple[Cell, ...]] = []
        row: list[list[tuple[int, int]]] = []
        for number in range(at, end):
            if _GRID.match(lines[number]):
                if row:
                    rows.append(tuple(cell_of(pieces) for pieces in row))
                row = []
                continue
            bars = [i for i, letter in enumerate(lines[number]) if letter == "|"]
            parts = [self._out.cell(number, first + 1, stop) for first, stop in itertools.pairwise(bars)]
            if row and len(row) == len(parts):
                for pieces, part in zip(row, parts, strict=True):
                    pieces.append(part)
            else:
                row = row or [[part] for part in parts]
        self._out.table(rows, parents)
        return max(end, at + 1)

    def _simple(self, at: int, last: int, parents: tuple[Block, ...]) -> int | None:
        """`===  ===` tables; a line with an empty first column goes on with the row above."""
        lines = self._out.lines
        if _SIMPLE.match(lines[at]) is None:
            return None
        columns = [(m.start(), m.end()) for m in re.finditer("=+", lines[at])]
        rows: list[list[list[tuple[int, int]]]] = []
        rules = 1
        number = at + 1
        while number < last and rules < 3:
            line = lines[number]
            if _SIMPLE.match(line):
                rules += 1
                if rules == 2 and (number + 1 >= last or not lines[number + 1].strip()):
                    # No header.
                    number += 1
                    break
            elif line.strip() and not re.fullmatch(r"[ \t-]+", line):
                bounds = [
                    (start, columns[i + 1][0] if i + 1 < len(columns) else max(len(line), end))
                    for i, (start, end) in enumerate(columns)
                ]
                parts = [self._out.cell(number, start, stop) for start, stop in bounds]
                if rows and parts[0][0] == parts[0][1]:
                    for pieces, part in zip(rows[-1], parts, strict=True):
                        pieces.append(part)
                else:
                    rows.append([[part] for part in parts])
            elif not line.strip() and rules > 1 and number + 1 < last and not lines[number + 1].strip():
                break
            number += 1
        self._out.table([tuple(cell_of(pieces) for pieces in row) for row in rows], parents)
        return number

    def _list_table(self, at: int, last: int, parents: tuple[Block, ...]) -> None:
        rows: list[list[list[tuple[int, int]]]] = []
        for number in range(at, last):
            line = self._out.lines[number]
            match = re.match(r"[ \t]*(\*[ \t]+)?(-(?:[ \t]+|$))?", line)
            assert match is not None
            if match[1]:
                rows.append([])
            if not rows or not line.strip():
                continue
            part = self._out.cell(number, match.end(), len(line))
            if match[2] is not None:
                rows[-1].append([part])
            elif rows[-1]:
                rows[-1][-1].append(part)
        self._out.table([tuple(cell_of(pieces) for pieces in row) for row in rows], parents)

    def _comma_row(self, number: int) -> tuple[Cell, ...]:
        line = self._out.lines[number]
        return tuple(
            Cell(*self._out.cell(number, *(match.span(1) if match[1] is not None else match.span(2))))
            for match in re.finditer(r'(?:^|,)[ \t]*(?:"((?:[^"]|"")*)"|([^,"]*))', line)
        )
