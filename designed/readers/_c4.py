"""C4 macros, as Mermaid's C4 diagrams and C4-PlantUML both write them: calls with quoted, bare and named arguments. Pure.

Components are parts of the container around them; arrows go to the container. Persons are people: their arrows are weak.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from designed.block_lines import BlockLines
from designed.drawing import Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role
from designed.labels import modality_of, read_label
from designed.reader import Place
from nexus.model.claim import Modality

_CALL: Final = re.compile(r"([A-Za-z_]\w*)\s*\(")
_ELEMENT: Final = re.compile(r"^(Person|System|Container|Component)(Db|Queue)?(_Ext)?$", re.IGNORECASE)
_BOUNDARY: Final = re.compile(
    r"^(?:(Enterprise|System|Container|Component)_)?Boundary$|^(Deployment_Node|Node)(?:_[LR])?$", re.IGNORECASE
)
_REL: Final = re.compile(r"^(Bi)?Rel(?:Index)?(_Back)?(?:_[A-Za-z]+)?$")
_BREAK: Final = re.compile(r"<br\s*/?>|\\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Call:
    """A macro call: name, positional and named arguments, where it stands, whether a block opens behind it."""

    name: str
    args: tuple[str, ...]
    named: dict[str, str]
    start: int
    end: int
    opens: bool


def parse_call(text: str, start: int, limit: int) -> Call | None:
    """The macro call at `start`, or None. Arguments may run over several lines up to offset `limit`."""
    match = _CALL.match(text, start)
    if match is None:
        return None
    position, depth, quoted = match.end(), 1, False
    parts, begin = [], match.end()
    while position < limit and depth:
        char = text[position]
        if char == '"':
            quoted = not quoted
        elif not quoted and char == "(":
            depth += 1
        elif not quoted and char == ")":
            depth -= 1
        elif not quoted and char == "," and depth == 1:
            parts.append(text[begin:position])
            begin = position + 1
        position += 1
    if depth:
        return None
    parts.append(text[begin : position - 1])
    args, named = [], {}
    for part in parts:
        item = re.match(r"\s*\$(\w+)\s*=\s*(.*)$", part, re.DOTALL)
        if item:
            named[item.group(1).lower()] = item.group(2).strip().strip('"')
        elif not re.match(r"\s*\$\w+\s*[-+]", part):
            # "$index-1" of the older dynamic diagrams is an index, no argument.
            args.append(_BREAK.sub(" ", part.strip().strip('"')).strip())
    after = position
    while after < limit and text[after] in " \t":
        after += 1
    opens = after < limit and text[after] == "{"
    return Call(match.group(1), tuple(args), named, match.start(), position, opens)


class C4:
    """C4 elements, boundaries and relations put into a diagram."""

    def __init__(self, diagram: Diagram, lines: BlockLines, rule: str) -> None:
        self.diagram = diagram
        self.lines = lines
        self.rule = rule
        self.stack: list[str] = []

    def take(self, call: Call) -> bool:
        """Use a call; false where it is no C4 macro (layout, styles)."""
        place = self.lines.place(call.start, call.end)
        if _REL.match(call.name):
            return self._relation(call, place)
        boundary = _BOUNDARY.match(call.name)
        if boundary and call.args:
            ident, title = call.args[0], (call.args[1] if len(call.args) > 1 else call.args[0])
            self._boundary(ident, title, "node" if boundary.group(2) else (boundary.group(1) or "").lower(), place)
            return True
        element = _ELEMENT.match(call.name)
        if element and call.args:
            self._element(call, element, place)
            return True
        return False

    def close(self) -> None:
        """A boundary ends."""
        if self.stack:
            self.stack.pop()

    def _boundary(self, ident: str, title: str, kind: str, place: Place) -> None:
        self.diagram.groups[ident] = title
        within = tuple(reversed(self.stack))
        part_of = "" if kind != "component" else self._container()
        self.diagram.nodes[ident] = DrawnNode(
            ident,
            title or ident,
            node_role(title or ident),
            place,
            within=within,
            shape=f"{kind}_boundary",
            group=kind != "container",
            part_of=part_of,
        )
        self.stack.append(ident)

    def _container(self) -> str:
        return next(
            (i for i in reversed(self.stack) if self.diagram.nodes[i].shape in ("container_boundary", "container")), ""
        )

    def _element(self, call: Call, element: re.Match[str], place: Place) -> None:
        sort, variant, outside = element.group(1).lower(), (element.group(2) or "").lower(), bool(element.group(3))
        ident = call.args[0]
        label = call.named.get("label", call.args[1] if len(call.args) > 1 else ident)
        technology = call.named.get(
            "techn", call.args[2] if len(call.args) > 2 and sort in ("container", "component") else ""
        )
        hint = {"db": Role.STORE, "queue": Role.TOPIC}.get(variant)
        if sort == "person":
            hint = Role.PERSON
        elif outside and hint is None:
            hint = Role.EXTERNAL
        role = node_role(label, technology, hint, ident)
        part_of = self._container() if sort == "component" else ""
        self.diagram.nodes[ident] = DrawnNode(
            ident,
            label or ident,
            role,
            place,
            within=tuple(reversed(self.stack)),
            shape=sort,
            part_of=part_of,
            technology=technology,
        )
        if call.opens:
            self.stack.append(ident)

    def _relation(self, call: Call, place: Place) -> bool:
        match = _REL.match(call.name)
        args = list(call.args)
        source = call.named.get("from") or (args.pop(0) if args else "")
        target = call.named.get("to") or (args.pop(0) if args else "")
        if match is None or not source or not target:
            return False
        label = call.named.get("label", args[0] if args else "")
        technology = call.named.get("techn", args[1] if len(args) > 1 else "")
        tags = call.named.get("tags", "")
        for name in (source, target):
            if name not in self.diagram.nodes:
                self.diagram.nodes[name] = DrawnNode(
                    name, name, node_role(name), place, within=tuple(reversed(self.stack))
                )
        if match.group(2):
            source, target = target, source
        read = read_label(f"{label} {technology}".strip())
        verbs = read_label(label)
        modality = modality_of(tags.replace("_", " ")) if tags else Modality.ASSERTED
        if modality is Modality.ASSERTED:
            modality = verbs.modality
        # Topics and verbs stand in the label, protocols in the technology: "JDBC" is no topic, "JSON/HTTPS" no path.
        label_read = type(read)(
            verbs.text,
            read.protocol,
            verbs.operation,
            verbs.topics,
            modality,
            read.quantities,
            verbs.reads,
            verbs.writes,
        )
        attributes = {"technology": technology} if technology else {}
        pairs = [(source, target)] + ([(target, source)] if match.group(1) else [])
        for a, b in pairs:
            self.diagram.edges.append(
                DrawnEdge(
                    a, b, label_read, place, rule=self.rule, confidence=0.96, modality=modality, attributes=attributes
                )
            )
        return True
