"""Mermaid `architecture-beta`: groups, services, junctions and edges with sides."""

from __future__ import annotations

import re
from typing import Final

from designed.block_lines import BlockLines
from designed.drawing import Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role
from designed.labels import read_label
from nexus.model.document import Problem

_ITEM: Final = re.compile(r"(group|service)\s+([\w-]+)\s*(?:\(([^)]*)\))?\s*(?:\[([^\]]*)\])?\s*(?:in\s+([\w-]+))?\s*$")
_JUNCTION: Final = re.compile(r"junction\s+([\w-]+)(?:\s+in\s+([\w-]+))?\s*$")
_EDGE: Final = re.compile(
    r"([\w-]+?)(?:\{group\})?\s*:\s*[LRTB]\s*(<)?-(?:\[([^\]]*)\]|-)-?(>)?\s*[LRTB]\s*:\s*([\w-]+?)(?:\{group\})?\s*$"
)


def read_architecture(
    lines: BlockLines, start: int, path: str, rule: str = "mermaid.architecture"
) -> tuple[Diagram, list[Problem]]:
    """Read the lines from offset `start` (after the header). Arrows through junctions join what the junction joins."""
    diagram, problems = Diagram(), []
    junctions: set[str] = set()
    text, position = lines.text, start
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        statement = text[position:end].split("%%")[0].strip()
        place = lines.place(position, end)
        item, junction, edge = _ITEM.match(statement), _JUNCTION.match(statement), _EDGE.match(statement)
        if item:
            sort, ident, icon, title, parent = item.groups()
            label = (title or ident).strip().strip('"')
            within = (parent, *diagram.nodes[parent].within) if parent in diagram.nodes else ()
            hint = Role.STORE if (icon or "").strip() in ("database", "disk") else None
            role = (
                Role.CLIENT
                if (icon or "").strip() == "internet"
                else node_role(label, (icon or "").split(":")[-1], hint, ident)
            )
            diagram.nodes[ident] = DrawnNode(
                ident, label, role, place, within=within, shape=icon or "", group=sort == "group"
            )
            if sort == "group":
                diagram.groups[ident] = label
        elif junction:
            junctions.add(junction.group(1))
            diagram.nodes[junction.group(1)] = DrawnNode(
                junction.group(1), junction.group(1), Role.SERVICE, place, shape="junction"
            )
        elif edge:
            source, back, label, forth, target = edge.groups()
            for name in (source, target):
                if name not in diagram.nodes:
                    diagram.nodes[name] = DrawnNode(name, name, node_role(name), place)
            read = read_label(label or "")
            pairs = [(source, target)] if forth or not back else []
            pairs += [(target, source)] if back else []
            diagram.edges += [DrawnEdge(a, b, read, place, bool(back or forth), rule, 0.93) for a, b in pairs]
        elif statement and not re.match(r"(?:title|accTitle|accDescr)\b", statement):
            problems.append(Problem(path, lines.line(position), f"cannot read {statement[:40]!r}"))
        position = end + 1
    _collapse(diagram, junctions)
    return diagram, problems


def _collapse(diagram: Diagram, junctions: set[str]) -> None:
    """Replace arrows into and out of junctions by arrows between what they connect."""
    for junction in sorted(junctions):
        into = [e for e in diagram.edges if e.target == junction and e.source != junction]
        out = [e for e in diagram.edges if e.source == junction and e.target != junction]
        # A line without a head may be read either way through a junction.
        into += [
            DrawnEdge(e.target, e.source, e.label, e.place, e.directed, e.rule, e.confidence)
            for e in out
            if not e.directed
        ]
        rest = [e for e in diagram.edges if junction not in (e.source, e.target)]
        for first in into:
            rest += [
                DrawnEdge(first.source, second.target, second.label, second.place, rule=second.rule, confidence=0.7)
                for second in out
                if first.source != second.target and (first.directed or second.directed)
            ]
        diagram.edges = rest
        diagram.nodes.pop(junction, None)
