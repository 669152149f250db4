"""Messages among participants: what Mermaid and PlantUML sequence diagrams have in common. Pure.

A message is a call; a message back to who called before, drawn dashed or called a return, is the answer and no dependency. In
`alt`, `opt` and `break` a call is conditional.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from designed.drawing import MESSAGING, Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role, vocabulary
from designed.labels import read_label
from designed.reader import Place
from nexus.model.claim import Modality

_ANSWER: Final = re.compile(
    r"^(?:return\w*|respon[sd]\w*|reply|replies|ack\w*|ok|result\w*|[1-5]\d\d\b|success|error|done|응답|반환|결과|성공|실패)\b|^\d{3} |응답|반환",
    re.IGNORECASE,
)
_PEOPLE: Final = vocabulary(
    "user users customer client browser admin shopper visitor actor 사용자 고객 클라이언트 관리자 운영자 브라우저 회원 유저"
)
_MAX_REACHED: Final = 64
CONDITIONAL_BLOCKS: Final = frozenset({"alt", "opt", "else", "break", "option"})


@dataclass(slots=True)
class Sequence:
    """A sequence diagram while it is read."""

    rule: str
    diagram: Diagram = field(default_factory=Diagram)
    blocks: list[tuple[str, str]] = field(default_factory=list)
    _called: set[tuple[str, str]] = field(default_factory=set)
    _calls: dict[str, set[str]] = field(default_factory=dict)
    # Who asked a broker for messages: what the broker sends back is the answer.
    _polled: set[tuple[str, str]] = field(default_factory=set)

    def participant(
        self,
        ident: str,
        label: str,
        place: Place,
        hint: Role | None = None,
        within: tuple[str, ...] = (),
        *,
        stated: bool = True,
    ) -> None:
        """Declare a participant; a message to an unknown name declares it too (`stated` false)."""
        if ident in self.diagram.nodes and not stated:
            return
        name = label or ident
        self.diagram.nodes[ident] = DrawnNode(
            ident, name, node_role(name, hint=hint, node_id=ident), place, within=within
        )

    def _reaches(self, source: str, target: str) -> bool:
        """Whether calls so far lead from one participant to another."""
        waiting, seen = [source], {source}
        while waiting and len(seen) < _MAX_REACHED:
            for following in self._calls.get(waiting.pop(), ()):
                if following == target:
                    return True
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return False

    def message(
        self, source: str, target: str, text: str, place: Place, *, dashed: bool, asynchronous: bool = False
    ) -> None:
        """One message; decides whether it is an answer."""
        for name in (source, target):
            self.participant(name, name, place, stated=False)
        if source == target:
            return
        roles = self.diagram.nodes[source].role, self.diagram.nodes[target].role
        answered = (target, source) in self._called
        # A broker's message to a program is a delivery, unless it answers a program that only ever asked.
        if (
            answered
            and (source, target) not in self._called
            and (dashed or _ANSWER.search(text.strip()))
            and roles[0] not in MESSAGING
        ):
            return
        if dashed and (_ANSWER.search(text.strip()) or (roles[0] not in MESSAGING and self._reaches(target, source))):
            # Dashed, and an answer by its words, or to someone who started the chain of calls that led here.
            return
        if dashed and answered and (roles[0] is Role.STORE or (target, source) in self._polled):
            return
        if (
            not self._called
            and self.diagram.nodes[source].role is Role.SERVICE
            and self.diagram.nodes[source].label.lower() in _PEOPLE
        ):
            # Who sends the first message and is called like a person is one.
            self.diagram.nodes[source] = replace(self.diagram.nodes[source], role=Role.CLIENT)
        self._called.add((source, target))
        self._calls.setdefault(source, set()).add(target)
        label = read_label(text)
        if label.reads and roles[1] in MESSAGING:
            self._polled.add((source, target))
        modality: Modality | None = None
        if label.modality is Modality.ASSERTED and any(kind in CONDITIONAL_BLOCKS for kind, _ in self.blocks):
            modality = Modality.CONDITIONAL
        attributes = {"async": "true"} if asynchronous else {}
        condition = next((text for kind, text in reversed(self.blocks) if kind in CONDITIONAL_BLOCKS and text), "")
        if condition and modality is not None:
            attributes["condition"] = condition
        self.diagram.edges.append(
            DrawnEdge(
                source, target, label, place, rule=self.rule, confidence=0.93, modality=modality, attributes=attributes
            )
        )
