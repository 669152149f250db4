"""AsciiDoc as blocks with their places: sections, lists, tables, listings, diagrams. Pure. No library of Python's reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from designed.extractors.blocks import Block, Document
from designed.extractors.flat import ASCIIDOC
from designed.extractors.outline import Outline, cell_of

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(?=\S)")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}\w*)[ \t]*$")
_TABLE = re.compile(r"([|,:!])={3,}[ \t]*$")
_ATTRIBUTES = re.compile(r"\[([^\[\]]*)\][ \t]*$|\[\[[^\]]+\]\][ \t]*$")
_SKIPPED = re.compile(
    r":!?[\w-]+!?:(?:\s|$)|//(?!/)|(?:include|image|video|audio|toc|ifdef|ifndef|ifeval|endif)::|\.[^\s.].*$|'''|<<<|---$"
)
_ITEM = re.compile(r"[ \t]*(\*{1,5}|-|\.{1,5}|\d+\.|<\d*\.?>)[ \t]+(?:\[[ *x]\][ \t]+)?(?=\S)")
_TERM = re.compile(r"[ \t]*(?=\S)(.*?\S)(:{2,4}|;;)(?:[ \t]+|$)")
_ADMONITION = re.compile(r"(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION): ")
_CELL = re.compile(r"(?:(?:(?<=\s)|^)(?:\d+[*+]|\.\d+\+)?[<^>.]*[adehlmsv]?)?(?<!\\)\|")
_DIAGRAMS = frozenset({"mermaid", "plantuml", "graphviz", "dot", "structurizr", "c4plantuml", "uml"})


def parse_adoc(text: str) -> Document:
    """Any text; none raises."""
    outline = Outline(text, ASCIIDOC)
    _Reader(outline).read(0, len(outline.lines))
    return outline.document()


@dataclass(slots=True)
class _State:
    """What the lines before say of the next: `style` and `language` of a block, its number of columns, the list around it."""

    style: str = ""
    language: str = ""
    columns: int = 0
    items: list[tuple[str, Block]] = field(default_factory=list)

    def fresh(self) -> None:
        self.style, self.language, self.columns = "", "", 0


class _Reader:
    def __init__(self, outline: Outline) -> None:
        self._out = outline
        self._state = _State()

    def read(self, at: int, last: int) -> None:
        """Lines [at, last)."""
        out, state = self._out, self._state
        while at < last:
            line = out.lines[at]
            if not line.strip():
                at += 1
                # A list ends with an empty line before what is no item.
                following = next((out.lines[n] for n in range(at, last) if out.lines[n].strip()), "")
                if not _ITEM.match(following) and not _TERM.match(following) and not following[:1].isspace():
                    state.items.clear()
            elif (attributes := _ATTRIBUTES.match(line)) is not None:
                self._attributes(attributes[1] or "")
                at += 1
            elif (table := _TABLE.match(line)) is not None:
                at = self._table(at, last, table)
            elif (delimiter := _DELIMITER.match(line)) is not None:
                at = self._delimited(at, last, delimiter)
            elif _SKIPPED.match(line) or line.strip() == "+":
                at += 1
            elif (heading := _HEADING.match(line)) is not None:
                out.heading(at, len(heading[1]), heading.end())
                state.items.clear()
                state.fresh()
                at += 1
            elif (item := _ITEM.match(line)) is not None:
                at = self._item(at, last, item[1], item.end())
            elif (term := _TERM.match(line)) is not None:
                at = self._term(at, last, term)
            else:
                at = self._paragraph(at, last)

    def _attributes(self, inside: str) -> None:
        """`[source,mermaid]`, `[plantuml,file,svg]`, `[cols="1,3",options="header"]`."""
        state = self._state
        parts = [part.strip().strip('"') for part in inside.split(",")]
        style = re.split(r"[#.%]", parts[0])[0].casefold()
        if style in _DIAGRAMS:
            state.style, state.language = "listing", style
        elif style in ("source", "listing") or (not style and len(parts) > 1 and re.fullmatch(r"\w+", parts[1])):
            state.style, state.language = "listing", parts[1] if len(parts) > 1 else ""
        elif style and "=" not in style:
            state.style = style
        cols = re.search(r'cols\s*=\s*(?:"([^"]*)"|([^,\]]+))', inside)
        if cols is not None:
            stated = cols[1] or cols[2]
            repeat = re.fullmatch(r"\s*(\d+)\*.*", stated)
            state.columns = int(repeat[1]) if repeat else len(re.split(r"[,;]", stated.strip(" ,;")))

    def _parents(self) -> tuple[Block, ...]:
        return tuple(block for _, block in self._state.items)

    def _delimited(self, at: int, last: int, delimiter: re.Match[str]) -> int:
        out, state = self._out, self._state
        mark = delimiter[1]
        close = mark[:3] if mark.startswith("`") else mark
        end = next((n for n in range(at + 1, last) if out.lines[n].rstrip() == close), last)
        if mark.startswith("/"):
            pass
        elif (mark[0] in "-.+`" and mark != "--") or state.style == "listing":
            out.fence(at + 1, end, mark.lstrip("`") if mark.startswith("`") else state.language, self._parents())
        else:
            items, state.items = state.items, list(state.items)
            state.fresh()
            self.read(at + 1, end)
            state.items = items
        state.fresh()
        return end + 1

    def _item(self, at: int, last: int, mark: str, column: int) -> int:
        state = self._state
        kind = re.sub(r"\d+", "1", mark)
        kinds = [known for known, _ in state.items]
        if kind in kinds:
            del state.items[kinds.index(kind) :]
        end = self._text_end(at + 1, last)
        state.items.append((kind, self._out.paragraph(at, end, column, self._parents(), item=True)))
        return end

    def _term(self, at: int, last: int, term: re.Match[str]) -> int:
        """`term:: what is said about it`: the term leads what follows."""
        state = self._state
        kinds = [known for known, _ in state.items]
        if term[2] in kinds:
            del state.items[kinds.index(term[2]) :]
        out = self._out
        rest = out.lines[at][term.end() :].strip()
        end = self._text_end(at + 1, last) if rest else at + 1
        # With its text in the same line it is read as one item; alone it is the lead of the paragraphs below.
        state.items.append((term[2], out.paragraph(at, end, term.start(1), self._parents(), item=True)))
        return end

    def _paragraph(self, at: int, last: int) -> int:
        out, state = self._out, self._state
        end = self._text_end(at + 1, last)
        literal = out.lines[at][:1].isspace() and not state.items
        if literal or state.style in {"listing", "literal"}:
            out.fence(at, end, state.language, self._parents())
        else:
            lead = _ADMONITION.match(out.lines[at])
            out.paragraph(at, end, lead.end() if lead else out.indent(at), self._parents())
        state.fresh()
        return end

    def _text_end(self, at: int, last: int) -> int:
        lines = self._out.lines
        while at < last and lines[at].strip() and lines[at].strip() != "+":
            line = lines[at]
            if any(
                pattern.match(line) for pattern in (_ITEM, _TERM, _DELIMITER, _TABLE, _ATTRIBUTES, _HEADING)
            ) or line.startswith("//"):
                break
            at += 1
        return at

    def _table(self, at: int, last: int, table: re.Match[str]) -> int:
        """`|===`: a row a line, or a cell a line with the number of columns stated or told by the first line."""
        out, state = self._out, self._state
        close = out.lines[at].strip()
        end = next((n for n in range(at + 1, last) if out.lines[n].strip() == close), last)
        cells: list[list[tuple[int, int]]] = []
        columns = state.columns
        separator = _CELL if table[1] in "|!" else re.compile(f"(?:^|{re.escape(table[1])})")
        for number in range(at + 1, end):
            line = out.lines[number]
            marks = list(separator.finditer(line))
            before = out.cell(number, 0, marks[0].start() if marks else len(line))
            if cells and before[0] < before[1]:
                cells[-1].append(before)
            bounds = [m.start() for m in marks[1:]] + [len(line)]
            row = [[out.cell(number, mark.end(), stop)] for mark, stop in zip(marks, bounds, strict=bool(marks))]
            columns = columns or len(row)
            cells += row
        if columns:
            out.table(
                [tuple(cell_of(pieces) for pieces in cells[i : i + columns]) for i in range(0, len(cells), columns)],
                self._parents(),
            )
        state.fresh()
        return end + 1
