"""Graphviz DOT: edges between named nodes, clusters, attributes that carry meaning (label, shape, dir, style)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from designed.block_lines import BlockLines
from designed.chart_kind import mark
from designed.drawing import MAX_DEPTH, MAX_PAIRS, Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role, first_name
from designed.labels import read_label
from designed.reader import Format, ReadContext, Reader, Reading
from nexus.model.document import Problem, SourceText

_TOKEN: Final = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*)|(?P<edge>->|--)|(?P<mark>[{}\[\];,=:+])|(?P<quoted>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<id>[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|-?(?:\.\d+|\d+(?:\.\d*)?))",
    re.DOTALL | re.MULTILINE,
)
_HEADER: Final = re.compile(
    r"\s*(?:(?://[^\n]*|/\*.*?\*/|\#[^\n]*)\s*)*(?:strict\s+)?(?:di)?graph\b[^{]*\{", re.DOTALL | re.IGNORECASE
)
_TAG: Final = re.compile(r"<[^<>]*>")
_STORE_SHAPES: Final = frozenset({"cylinder", "database"})
_MAX_GROUP: Final = 200


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class _State:
    lines: BlockLines
    directed: bool
    diagram: Diagram = field(default_factory=Diagram)
    groups: list[str] = field(default_factory=list)
    shapes: list[dict[str, str]] = field(default_factory=lambda: [{}])
    edges: list[dict[str, str]] = field(default_factory=lambda: [{}])


def _tokens(text: str, position: int) -> Iterator[_Token]:
    while position < len(text):
        if text[position] == "<":
            # An HTML label: balanced angle brackets.
            depth, end = 0, position
            while end < len(text):
                depth += (text[end] == "<") - (text[end] == ">")
                end += 1
                if depth == 0:
                    break
            yield _Token("html", text[position:end], position, end)
            position = end
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            position += 1
            continue
        if match.lastgroup and match.lastgroup != "space":
            yield _Token(match.lastgroup, match.group(0), match.start(), match.end())
        position = match.end()


def _plain(token: _Token) -> str:
    if token.kind == "quoted":
        return token.text[1:-1].replace('\\"', '"')
    return token.text


def _label(text: str) -> str:
    """A label's first line; of a record the first field; of HTML the text."""
    if text.startswith("<") and text.endswith(">"):
        text = _TAG.sub("\n", re.sub(r"</?(?:b|i|u|font|sub|sup)\b[^<>]*>", "", text[1:-1], flags=re.IGNORECASE))
    text = re.sub(r"<\w+>", "", text)
    text = text.strip("{} ").split("|")[0]
    parts = [html.unescape(part).strip() for part in re.split(r"\\[nlr]|\n", text)]
    return first_name(parts)


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """One graph."""
    path = context.path if context else ""
    lines = BlockLines(body, first_line, column_offset)
    header = _HEADER.match(body)
    if header is None:
        return Reading(problems=(Problem(path, first_line, "no graph or digraph"),))
    state = _State(lines, "digraph" in header.group(0).lower())
    tokens = list(_tokens(body, header.end()))
    position, depth = _statements(state, tokens, 0)
    problems = (
        ()
        if depth == 0 or position < len(tokens)
        else (Problem(path, lines.line(len(body)), "the graph is not closed"),)
    )
    used = {outer for node in state.diagram.nodes.values() for outer in node.within}
    for ident, node in list(state.diagram.nodes.items()):
        if node.group and ident not in used:
            del state.diagram.nodes[ident]
    mark(state.diagram)
    state.diagram.fold()
    return Reading(state.diagram.claims(), state.diagram.entities(), problems=problems)


def _statements(state: _State, tokens: list[_Token], position: int) -> tuple[int, int]:
    """Statements of the whole graph; (position, open braces) at the end. Not recursive: nesting may be deep."""
    depth = 1
    opened: list[bool] = []
    closing = _closing(tokens)
    while position < len(tokens):
        token = tokens[position]
        if token.text == "}" and token.kind == "mark":
            depth -= 1
            position += 1
            if opened:
                if opened.pop():
                    state.groups.pop()
                state.shapes.pop()
                state.edges.pop()
            if depth == 0:
                break
            continue
        if token.kind == "mark" and token.text in ";,":
            position += 1
            continue
        word = token.text.lower()
        if word == "subgraph" or (token.kind == "mark" and token.text == "{"):
            end = position
            name = ""
            while end < len(tokens) and end < position + 3 and tokens[end].text != "{":
                name = _plain(tokens[end]) if end > position else ""
                end += 1
            after = closing.get(end, len(tokens)) + 1
            if after < len(tokens) and tokens[after].kind == "edge":
                position = _edge(state, tokens, position)
                continue
            cluster = name.startswith("cluster") and len(state.groups) < MAX_DEPTH
            if cluster:
                state.diagram.groups[name] = name
                place = state.lines.place(token.start, tokens[min(end, len(tokens) - 1)].end)
                state.diagram.nodes[name] = DrawnNode(
                    name, name, Role.SERVICE, place, within=tuple(reversed(state.groups)), shape="cluster", group=True
                )
                state.groups.append(name)
            opened.append(cluster)
            state.shapes.append(dict(state.shapes[-1]))
            state.edges.append(dict(state.edges[-1]))
            depth += 1
            position = end + 1
            continue
        if word in ("node", "edge", "graph") and position + 1 < len(tokens) and tokens[position + 1].text == "[":
            attributes, position = _attributes(tokens, position + 1)
            target = {"node": state.shapes[-1], "edge": state.edges[-1]}.get(word)
            if target is not None:
                target.update(attributes)
            elif state.groups and attributes.get("label"):
                _title(state, attributes["label"])
            continue
        if position + 2 < len(tokens) and tokens[position + 1].text == "=" and tokens[position + 1].kind == "mark":
            if word == "label" and state.groups:
                _title(state, _plain(tokens[position + 2]))
            position += 3
            continue
        position = _edge(state, tokens, position)
    return position, depth


def _closing(tokens: list[_Token]) -> dict[int, int]:
    """Position of the closing brace by that of the opening one."""
    found: dict[int, int] = {}
    stack: list[int] = []
    for position, token in enumerate(tokens):
        if token.kind == "mark" and token.text == "{":
            stack.append(position)
        elif token.kind == "mark" and token.text == "}" and stack:
            found[stack.pop()] = position
    return found


def _title(state: _State, text: str) -> None:
    ident, title = state.groups[-1], _label(text)
    state.diagram.groups[ident] = title
    node = state.diagram.nodes[ident]
    state.diagram.nodes[ident] = DrawnNode(
        ident, title or ident, node_role(title or ident), node.place, within=node.within, shape="cluster", group=True
    )


def _members(tokens: list[_Token], position: int) -> tuple[list[_Token], int]:
    """Node tokens of `{ a b c }` and the position behind it."""
    found: list[_Token] = []
    depth = 0
    while position < len(tokens):
        token = tokens[position]
        if token.kind == "mark" and token.text in "{}":
            depth += 1 if token.text == "{" else -1
            if depth == 0:
                return found, position + 1
        elif token.text == "[" and token.kind == "mark":
            _, position = _attributes(tokens, position)
            continue
        elif token.kind in ("id", "quoted", "html") and token.text.lower() not in ("subgraph", "node", "edge", "graph"):
            following = tokens[position + 1].text if position + 1 < len(tokens) else ""
            if following == "=":
                position += 3
                continue
            found.append(token)
        position += 1
    return found[:_MAX_GROUP], position


def _attributes(tokens: list[_Token], position: int) -> tuple[dict[str, str], int]:
    """Attributes of one or several `[...]` lists."""
    found: dict[str, str] = {}
    while position < len(tokens) and tokens[position].text == "[" and tokens[position].kind == "mark":
        position += 1
        while position < len(tokens) and tokens[position].text != "]":
            if position + 2 < len(tokens) and tokens[position + 1].text == "=":
                found[_plain(tokens[position]).lower()] = _plain(tokens[position + 2])
                position += 3
            else:
                position += 1
        position += 1
    return found, position


def _operand(state: _State, tokens: list[_Token], position: int) -> tuple[list[_Token], int]:
    token = tokens[position]
    if token.text.lower() == "subgraph":
        while position < len(tokens) and tokens[position].text != "{":
            position += 1
        return _members(tokens, position)
    if token.text == "{" and token.kind == "mark":
        return _members(tokens, position)
    position += 1
    # A port is no part of the name.
    while position + 1 < len(tokens) and tokens[position].text == ":" and tokens[position].kind == "mark":
        position += 2
    del state
    return ([token] if token.kind in ("id", "quoted", "html") else []), position


def _edge(state: _State, tokens: list[_Token], position: int) -> int:
    """A node statement, or an edge statement with all its links."""
    start = position
    sources, position = _operand(state, tokens, position)
    chain = [sources]
    while position + 1 < len(tokens) and tokens[position].kind == "edge":
        following, position = _operand(state, tokens, position + 1)
        chain.append(following)
    end = tokens[position - 1].end if position > start else tokens[start].end
    own, position = _attributes(tokens, position)
    for token in (token for group in chain for token in group):
        _node(state, token, own if len(chain) == 1 else {})
    if len(chain) == 1:
        return max(position, start + 1)
    attributes = {**state.edges[-1], **own}
    if "invis" in attributes.get("style", ""):
        return position
    place = state.lines.place(tokens[start].start, end)
    label = read_label(_label_line(attributes.get("label", attributes.get("xlabel", ""))))
    direction = attributes.get("dir", "forward" if state.directed else "none")
    extra = {"line": "dotted"} if attributes.get("style", "") in ("dashed", "dotted") else {}
    for before, after in pairwise(chain):
        if len(before) * len(after) > MAX_PAIRS:
            continue
        for a in before:
            for b in after:
                one, two = _plain(a), _plain(b)
                pairs = [(one, two)] if direction != "back" else []
                pairs += [(two, one)] if direction in ("back", "both") else []
                state.diagram.edges += [
                    DrawnEdge(x, y, label, place, direction != "none", "dot.edge", 0.93, attributes=extra)
                    for x, y in pairs
                ]
    return position


def _label_line(text: str) -> str:
    text = _TAG.sub(" ", text[1:-1]) if text.startswith("<") and text.endswith(">") else text
    return html.unescape(re.sub(r"\\[nlr]|\n", " ", text))


def _node(state: _State, token: _Token, own: dict[str, str]) -> None:
    ident = _plain(token)
    attributes = {**state.shapes[-1], **own}
    known = state.diagram.nodes.get(ident)
    if known is not None and not own:
        return
    label = _label(own["label"]) if own.get("label", "\\N") not in ("\\N", "") else ""
    shape = attributes.get("shape", known.shape if known else "")
    name = label or (known.label if known else ident)
    role = node_role(name, hint=Role.STORE if shape in _STORE_SHAPES else None, node_id=ident)
    within = known.within if known and known.within else tuple(reversed(state.groups))
    state.diagram.nodes[ident] = DrawnNode(
        ident, name, role, state.lines.place(token.start, token.end), within=within, shape=shape
    )


def accepts(text: SourceText) -> bool:
    """Files named .dot or .gv that begin a graph."""
    return text.suffix in (".dot", ".gv") and _HEADER.match(text.text) is not None


def read(text: SourceText, context: ReadContext) -> Reading:
    """The whole file."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("dot", accepts, read)
