"""Mermaid flowcharts: statements, nodes with shapes, links of every kind, subgraphs. Own parser, for it needs positions.

The grammar follows mermaid's flow.jison where it matters for edges: `A & B --> C & D`, chains, `-- text -->`, `-->|text|`,
`<-->`, dotted and thick links, `--o` and `--x`, edge ids, `@{ shape: ... }`, quoted labels over several lines.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field, replace
from typing import Final

from designed.block_lines import BlockLines
from designed.chart_kind import mark
from designed.drawing import MAX_DEPTH, MAX_PAIRS, Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role, first_name
from designed.labels import read_label
from designed.reader import Place
from nexus.model.claim import Modality
from nexus.model.document import Problem

# Opening bracket -> (closing brackets, role the shape hints at). The longest opening wins.
_SHAPES: Final[tuple[tuple[str, tuple[str, ...], str], ...]] = (
    ("(((", (")))",), "circle"),
    ("((", ("))",), "circle"),
    ("([", ("])",), "stadium"),
    ("[(", (")]",), "cylinder"),
    ("(", (")",), "round"),
    ("[[", ("]]",), "subroutine"),
    ("[/", ("/]", "\\]"), "lean"),
    ("[\\", ("\\]", "/]"), "lean"),
    ("[", ("]",), "box"),
    ("{{", ("}}",), "hexagon"),
    ("{", ("}",), "rhombus"),
    (">", ("]",), "flag"),
)
_ID: Final = re.compile(r"(?:[\w!#$%'*+.`?\\/]|-(?=[^>\-.\s])|=(?!=))+")
_LINK: Final = re.compile(r"[xo<]?--+[-xo>]|[xo<]?==+[=xo>]|[xo<]?-?\.+-[xo>]?|~~~+")
_OPEN: Final = re.compile(r"[xo<]?--(?!-)|[xo<]?==(?!=)|[xo<]?-\.(?!-)")
_CLOSE: Final[dict[str, re.Pattern[str]]] = {
    "-": re.compile(r"--+[-xo>]"),
    "=": re.compile(r"==+[=xo>]"),
    ".": re.compile(r"\.+-[xo>]?"),
}
_EDGE_ID: Final = re.compile(r"[^\s\"@]{1,64}@(?=[-=<xo.~])")
_SKIP: Final = re.compile(
    r"(?:style|classDef|class|linkStyle|click|direction|accTitle|accDescr|title)(?=[\s:{;]|$)", re.IGNORECASE
)
_SUBGRAPH: Final = re.compile(r"subgraph\b[ \t]*")
_BREAK: Final = re.compile(r"<br\s*/?>|\\n|\n", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_ATTRIBUTE: Final = re.compile(r"(\w+)\s*:\s*(\"[^\"]*\"|[^,}\n]+)")
_STORE_SHAPES: Final = frozenset({"cylinder", "cyl", "database", "db", "das", "h-cyl", "lin-cyl", "disk"})


@dataclass(slots=True)
class _State:
    lines: BlockLines
    rule: str
    diagram: Diagram = field(default_factory=Diagram)
    problems: list[Problem] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    path: str = ""


def clean_label(text: str) -> str:
    """A label without quotes, markup and entities. BlockLines after the first are descriptions, unless in brackets."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    text = text.strip().strip("`").strip()
    text = re.sub(r"#(\d+|[a-z]+);", r"&\1;", text)
    # The break first: it must not be lost with the other tags.
    parts = [html.unescape(_TAG.sub("", part)).replace("**", "").strip() for part in _BREAK.split(text)]
    return first_name(parts)


def link_label(text: str) -> str:
    """A link's label as one line."""
    text = text.strip().strip('"').strip()
    return " ".join(html.unescape(_TAG.sub(" ", _BREAK.sub(" ", re.sub(r"#(\d+|[a-z]+);", r"&\1;", text)))).split())


def read_flowchart(
    lines: BlockLines, start: int, path: str, rule: str = "mermaid.flowchart"
) -> tuple[Diagram, list[Problem]]:
    """Read the statements from offset `start` (after the header) to the end of the text."""
    state = _State(lines, rule, path=path)
    text = lines.text
    position = start
    while position < len(text):
        begin = position
        position = _statement(state, position)
        if position <= begin:
            position = begin + 1
    for group in state.stack:
        state.problems.append(Problem(path, lines.line(start), f"subgraph {group!r} is not closed"))
    mark(state.diagram)
    state.diagram.fold()
    return state.diagram, state.problems


def _statement(state: _State, position: int) -> int:
    text = state.lines.text
    while position < len(text) and (text[position].isspace() or text[position] == ";"):
        position += 1
    if position >= len(text):
        return position
    line_end = _line_end(text, position)
    if text.startswith("%%", position):
        return line_end
    if text.startswith("accDescr", position) and "{" in text[position:line_end]:
        close = text.find("}", position)
        return len(text) if close < 0 else close + 1
    word = text[position:line_end]
    if _SUBGRAPH.match(word):
        return _subgraph(state, position, line_end)
    if re.match(r"end\s*(?:;|$|%%)", word):
        if state.stack:
            state.stack.pop()
        return position + 3
    if _SKIP.match(word) and not re.match(r"\w+\s*(?:[-=~.]{2}|<-|&|\[|\(|\{)", word):
        return line_end
    return _chain(state, position)


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _subgraph(state: _State, position: int, line_end: int) -> int:
    text = state.lines.text
    begin = position + len(_SUBGRAPH.match(text[position:line_end]).group(0))  # type: ignore[union-attr]
    rest = text[begin:line_end].split("%%")[0].rstrip().rstrip(";")
    named = re.match(r"(\S+?)\s*\[(.*)\]\s*$", rest)
    quoted = re.match(r"\"([^\"]*)\"\s*$", rest)
    if named:
        ident, title = named.group(1), clean_label(named.group(2))
    elif quoted:
        ident = title = quoted.group(1).strip()
    else:
        ident = title = rest.strip() or f"subgraph at line {state.lines.line(position)}"
    place = state.lines.place(position, line_end)
    state.diagram.groups[ident] = title
    state.diagram.nodes[ident] = DrawnNode(
        ident,
        title or ident,
        node_role(title or ident),
        place,
        within=tuple(reversed(state.stack)),
        group=True,
        shape="subgraph",
    )
    if len(state.stack) >= MAX_DEPTH:
        # Its `end` closes an outer group, which is harmless this deep.
        state.problems.append(
            Problem(
                state.path, state.lines.line(position), f"more than {MAX_DEPTH} nested subgraphs are not told apart"
            )
        )
    else:
        state.stack.append(ident)
    return line_end


def _chain(state: _State, position: int) -> int:
    """Node groups with links between them, to the end of the statement."""
    text = state.lines.text
    before: list[tuple[str, int, int]] | None = None
    link: tuple[str, str, str] | None = None
    while True:
        group, position = _group(state, position)
        if group is None:
            if before is None or link is not None:
                end = _line_end(text, position)
                junk = text[position:end].strip()
                if junk or link is not None:
                    state.problems.append(
                        Problem(state.path, state.lines.line(min(position, len(text))), f"cannot read {junk[:40]!r}")
                    )
                return max(end, position + 1)
            return position
        if before is not None and link is not None:
            _connect(state, before, group, link)
        before = group
        link, after = _read_link(text, _skip_blanks(text, position))
        if link is None:
            rest = _skip_blanks(text, position)
            if rest < len(text) and text[rest] not in "\n;" and not text.startswith("%%", rest):
                end = _line_end(text, rest)
                state.problems.append(
                    Problem(state.path, state.lines.line(rest), f"cannot read {text[rest:end].strip()[:40]!r}")
                )
                return end
            return rest
        position = _skip_space(text, after)


def _skip_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r":
        position += 1
    return position


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _group(state: _State, position: int) -> tuple[list[tuple[str, int, int]] | None, int]:
    text = state.lines.text
    found: list[tuple[str, int, int]] = []
    while True:
        node, after = _node(state, position)
        if node is None:
            return (found or None), position
        found.append(node)
        position = after
        rest = _skip_blanks(text, position)
        if rest < len(text) and text[rest] == "&":
            position = _skip_space(text, rest + 1)
            continue
        return found, position


def _node(state: _State, position: int) -> tuple[tuple[str, int, int] | None, int]:
    text = state.lines.text
    match = _ID.match(text, position)
    if match is None:
        return None, position
    ident = match.group(0)
    start, position = position, match.end()
    label, shape = "", ""
    if text.startswith("@{", position):
        close = text.find("}", position)
        close = _line_end(text, position) if close < 0 else close
        values = {m.group(1): m.group(2).strip().strip('"') for m in _ATTRIBUTE.finditer(text, position + 2, close)}
        label, shape, position = (
            values.get("label", ""),
            values.get("shape", values.get("icon", "")),
            min(close + 1, len(text)),
        )
    else:
        for opening, closings, name in _SHAPES:
            if text.startswith(opening, position):
                end, closing = _closing(text, position + len(opening), closings)
                if end < 0:
                    continue
                label, shape, position = text[position + len(opening) : end], name, end + len(closing)
                break
    if text.startswith(":::", position):
        css = re.compile(r":::[\w-]+").match(text, position)
        position = css.end() if css else position + 3
    _declare(state, ident, label, shape, state.lines.place(start, position))
    return (ident, start, position), position


def _closing(text: str, position: int, closings: tuple[str, ...]) -> tuple[int, str]:
    """Where a shape closes: after the closing quote of a quoted label, else the first closing bracket before the line's end."""
    first = _skip_space(text, position)
    if first < len(text) and text[first] == '"':
        quote = text.find('"', first + 1)
        if quote >= 0:
            position = quote + 1
    found = [(text.find(closing, position), closing) for closing in closings]
    inside = [item for item in found if item[0] >= 0]
    if not inside:
        return -1, ""
    end, closing = min(inside)
    return (end, closing) if "\n" not in text[position:end] else (-1, "")


def _declare(state: _State, ident: str, written: str, shape: str, place: Place) -> None:
    label = clean_label(written)
    known = state.diagram.nodes.get(ident)
    within = tuple(reversed(state.stack))
    if known is not None and (not label or known.group):
        if _deeper(known.within, within) and not known.group:
            state.diagram.nodes[ident] = replace(known, within=within)
        return
    if known is not None and known.within and not _deeper(known.within, within):
        within = known.within
    name = label or ident
    store = shape in _STORE_SHAPES
    role = node_role(name, hint=Role.STORE if store else None, node_id=ident)
    place = known.place if known and not label else place
    state.diagram.nodes[ident] = DrawnNode(
        ident, name, role, place, within=within, shape=shape, detail=link_label(written)
    )


def _deeper(known: tuple[str, ...], now: tuple[str, ...]) -> bool:
    """Whether a later mention stands further inside the same groups: that is where the node belongs."""
    return len(now) > len(known) and (not known or now[-len(known) :] == known)


def _read_link(text: str, position: int) -> tuple[tuple[str, str, str] | None, int]:
    """(arrow, label, kind of line), offset after it."""
    match = _EDGE_ID.match(text, position)
    if match and "\n" not in match.group(0):
        position = match.end()
    link = _LINK.match(text, position)
    if link is not None:
        after = _skip_blanks(text, link.end())
        if after < len(text) and text[after] == "|":
            close = text.find("|", after + 1)
            if close >= 0:
                return (link.group(0), link_label(text[after + 1 : close]), ""), close + 1
        return (link.group(0), "", ""), link.end()
    opened = _OPEN.match(text, position)
    if opened is None:
        return None, position
    kind = "=" if "=" in opened.group(0) else ("." if "." in opened.group(0) else "-")
    end = _line_end(text, position)
    closed = _CLOSE[kind].search(text, opened.end(), end)
    if closed is None:
        return None, position
    return (opened.group(0) + closed.group(0), link_label(text[opened.end() : closed.start()]), kind), closed.end()


def _connect(
    state: _State, sources: list[tuple[str, int, int]], targets: list[tuple[str, int, int]], link: tuple[str, str, str]
) -> None:
    arrow, text, _ = link
    if arrow.startswith("~"):
        return
    if len(sources) * len(targets) > MAX_PAIRS:
        state.problems.append(
            Problem(
                state.path,
                state.lines.line(sources[0][1]),
                f"more than {MAX_PAIRS} arrows in one statement are not read",
            )
        )
        return
    place = state.lines.place(sources[0][1], targets[-1][2])
    label = read_label(text)
    modality = None
    if arrow.endswith("x"):
        modality = Modality.FORBIDDEN
    attributes = {"line": "dotted"} if "." in arrow else {}
    forward = arrow[-1] in ">xo"
    backward = arrow[0] in "<xo"
    for source, _start, _end in sources:
        for target, _start2, _end2 in targets:
            pairs = [(source, target)] if forward or not backward else []
            pairs += [(target, source)] if backward else []
            for a, b in pairs:
                state.diagram.edges.append(
                    DrawnEdge(
                        a, b, label, place, forward or backward, state.rule, 0.95, modality, attributes=attributes
                    )
                )
