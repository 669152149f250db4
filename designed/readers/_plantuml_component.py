"""PlantUML component and deployment diagrams: elements, nesting, arrows with direction words, interfaces."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from designed.block_lines import BlockLines
from designed.drawing import Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role
from designed.readers._plantuml_text import clean, first_line, label_of
from nexus.model.claim import Modality

KEYWORDS: Final = (
    "component|node|database|queue|cloud|package|rectangle|folder|frame|storage|artifact|interface|actor|agent|boundary|card|circle|collections|control"
    "|entity|file|hexagon|person|process|stack|usecase|participant|action|label|container|port|portin|portout"
)
_NAME: Final = r"\"[^\"]*\"|\[[^\]\n]*\]|\([^)\n]*\)|:[^:\n]+:|[^\s\"\[\](){}<>:]+"
_TAIL: Final = r"(?P<tail>(?:\s*(?:<<[^>\n]*>>|#[\w;:.#\[\]\\/|-]+|\$\w+))*)\s*(?P<open>[\{\[])?"
_ELEMENT: Final = re.compile(
    rf"(?:(?P<abstract>abstract)\s+)?(?P<kind>{KEYWORDS})\s+(?P<first>{_NAME})(?:\s+as\s+(?P<second>{_NAME}))?{_TAIL}"
)
_BRACKET: Final = re.compile(
    rf"(?P<first>\[[^\]\n]+\]|:[^:\n]+:|\(\)\s*(?:\"[^\"]+\"|[\w.]+)|\([^)\n]+\))(?:\s+as\s+(?P<second>{_NAME}))?{_TAIL}\s*$"
)
_END: Final = r"\"[^\"]*\"|\[[^\]\n]+\]|:[^:\n]+:|\(\)\s*(?:\"[^\"]+\"|[\w.]+)|\([^)\n]+\)|[\w.가-힣$@/-]*[\w가-힣$@/]"
_ARROW: Final = (
    r"(?P<head1><\|?|[<o*#x+^}]|\|>|0\)?|\))?(?P<line1>[-.=~]+)(?P<style>\[[^\]]*\])?(?:(?:left|right|up|down|le|ri|do|l|r|u|d)(?=[-.=~\[]))?"
    r"(?:\[[^\]]*\])?(?P<line2>[-.=~]*)(?P<head2>\|?>>?|[o*#x+^{]|<\||\(?0|\()?"
)
_RELATION: Final = re.compile(
    rf"(?P<a>{_END})(?:\s+\"[^\"]*\")?\s*(?<![\w]){_ARROW}\s*(?:\"[^\"]*\"\s+)?(?P<b>{_END})(?:\s*(?:<<[^>\n]*>>|#[\w;:.]+))*\s*(?::\s*(?P<text>.*))?$"
)
_GROUPS: Final = frozenset(
    ["package", "node", "cloud", "rectangle", "folder", "frame", "stack", "card", "hexagon", "container"]
)
_PARTS: Final = frozenset({"component", "agent", "artifact", "process"})


class Components:
    """Statements of a component diagram put into a `Diagram`."""

    def __init__(self, diagram: Diagram, lines: BlockLines, rule: str = "plantuml.component") -> None:
        self.diagram = diagram
        self.lines = lines
        self.rule = rule
        self.stack: list[str] = []
        self._description: str = ""
        self._by_label: dict[str, str] = {}

    def take(self, start: int, end: int) -> bool:
        """Use a statement; false where it says nothing that is known here."""
        line = self.lines.text[start:end]
        statement = line.strip()
        if self._description:
            # Inside `component x [ ... ]`: free text, the first line of which may be the name.
            node = self.diagram.nodes[self._description]
            text = statement.rstrip("]").strip()
            if text and node.label == node.id:
                self.diagram.nodes[node.id] = replace(
                    node, label=first_line(text), role=node_role(first_line(text), hint=None, node_id=node.id)
                )
            if statement.endswith("]"):
                self._description = ""
            return True
        if statement == "}":
            if self.stack:
                self.stack.pop()
            return True
        if re.match(r"together\s*\{", statement):
            self.stack.append(self.stack[-1] if self.stack else "")
            return True
        relation = _RELATION.match(statement)
        if (
            relation
            and len(relation.group("line1") + relation.group("line2")) >= 1
            and not re.match(rf"(?:{KEYWORDS})\s+\S+\s+as\b", statement)
        ):
            self._relate(relation, start, end)
            return True
        element = _ELEMENT.match(statement)
        if element:
            self._declare(element, element.group("kind"), start, end)
            return True
        bracket = _BRACKET.match(statement)
        if bracket:
            first = bracket.group("first")
            kind = (
                "component"
                if first[0] == "["
                else ("interface" if first.startswith("()") else ("actor" if first[0] == ":" else "usecase"))
            )
            self._declare(bracket, kind, start, end)
            return True
        return False

    def _declare(self, match: re.Match[str], kind: str, start: int, end: int) -> None:
        first, second = match.group("first"), match.group("second") or ""
        if second and second[0] in '"[(:':
            # `component id as "Long name"`.
            first, second = second, first
        label = first_line(_bare(first))
        ident = _bare(second) if second else clean(_bare(first))
        stereotype = " ".join(re.findall(r"<<\s*([^>]*?)\s*>>", match.group("tail") or ""))
        opens = match.group("open") == "{"
        self._node((ident, label or ident), kind, stereotype, (start, end), group=opens and kind not in _PARTS)
        if opens:
            self.stack.append(ident)
        elif match.group("open") == "[" and "]" not in self.lines.text[start + match.end() : end]:
            self._description = ident

    def _node(self, name: tuple[str, str], kind: str, stereotype: str, span: tuple[int, int], *, group: bool) -> None:
        ident, label = name
        hint = {
            "database": Role.STORE,
            "storage": Role.STORE,
            "queue": Role.TOPIC,
            "actor": Role.CLIENT,
            "person": Role.PERSON,
        }.get(kind)
        within = tuple(dict.fromkeys(outer for outer in reversed(self.stack) if outer and outer != ident))
        role = node_role(label, stereotype, hint, ident)
        if group:
            self.diagram.groups[ident] = label
        self._by_label.setdefault(label, ident)
        self.diagram.nodes[ident] = DrawnNode(
            ident, label, role, self.lines.place(*span), within=within, shape=kind, group=group, technology=stereotype
        )

    def _operand(self, text: str, start: int, end: int) -> str:
        name = _bare(text)
        ident = clean(name)
        if ident in self.diagram.nodes:
            return ident
        named = self._by_label.get(first_line(name))
        if named is not None and named in self.diagram.nodes:
            return named
        kind = (
            "component"
            if text[0] == "["
            else ("actor" if text[0] == ":" else ("interface" if text.startswith("()") else ""))
        )
        self._node((ident, first_line(name) or ident), kind, "", (start, end), group=False)
        return ident

    def _relate(self, match: re.Match[str], start: int, end: int) -> None:
        a, b = self._operand(match.group("a"), start, end), self._operand(match.group("b"), start, end)
        style = match.group("style") or ""
        head1, head2 = match.group("head1") or "", match.group("head2") or ""
        if "hidden" in style or "<|" in head1 or "|>" in head2:
            # An open triangle says what something is, and calls nothing.
            return
        # A socket (`--(`) asks for what a lollipop offers.
        back, forth = "<" in head1 or head1 == ")", ">" in head2 or head2 == "("
        label = label_of(match.group("text") or "")
        modality = Modality.FORBIDDEN if "x" in (head1, head2) else None
        place = self.lines.place(start, end)
        dotted = "." in match.group("line1") or "dashed" in style or "dotted" in style
        pairs = [(a, b)] if forth or not back else []
        pairs += [(b, a)] if back else []
        for source, target in pairs:
            self.diagram.edges.append(
                DrawnEdge(
                    source,
                    target,
                    label,
                    place,
                    back or forth,
                    self.rule,
                    0.94,
                    modality,
                    attributes={"line": "dotted"} if dotted else {},
                )
            )


def provide(diagram: Diagram) -> None:
    """Arrows to an interface go to the component that provides it (drawn `[A] - I`, `[B] ..> I`)."""
    interfaces = {ident for ident, node in diagram.nodes.items() if node.shape == "interface"}
    providers: dict[str, dict[str, None]] = {}
    for edge in diagram.edges:
        if not edge.directed:
            for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                if one in interfaces:
                    providers.setdefault(one, {})[other] = None
    kept: list[DrawnEdge] = []
    for edge in diagram.edges:
        if edge.source not in providers and edge.target not in providers:
            kept.append(edge)
        elif edge.directed and edge.target in providers:
            label = edge.label if edge.label.text else label_of(diagram.nodes[edge.target].label)
            kept += [
                replace(edge, target=provider, label=label)
                for provider in providers[edge.target]
                if provider != edge.source
            ]
        elif edge.directed:
            kept += [replace(edge, source=provider) for provider in providers[edge.source] if provider != edge.target]
    diagram.edges = kept


def _bare(text: str) -> str:
    text = text.strip()
    if text.startswith("()"):
        text = text[2:].strip()
    if len(text) > 1 and text[0] + text[-1] in ('""', "[]", "()", "::"):
        return text[1:-1].strip().strip('"')
    return text
