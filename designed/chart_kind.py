"""Whether a picture of boxes and arrows shows dependencies at all. Pure.

Flowcharts also draw processes (steps, decisions), the inside of one program (layers), lists of settings and of endpoints. Their
arrows are kept as weak claims with the reason; the arrows between components of the same picture stay.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from designed.drawing import Diagram, DrawnNode
from designed.kinds import BROKER_HEADS, PROGRAM_HEADS, STORE_HEADS, TOPIC_HEADS, Role, vocabulary, words
from nexus.model.technology import technology

_DECISION: Final = re.compile(
    r"^(?:yes|no|y|n|true|false|ok|fail(?:ed|ure)?|success|pass(?:ed)?|hit|miss|예|아니오|아니요|성공|실패)$",
    re.IGNORECASE,
)
_TERMINAL: Final = re.compile(r"^(?:start|end|begin|stop|finish|done|시작|종료|끝)$", re.IGNORECASE)
_DIAMONDS: Final = frozenset({"rhombus", "diam", "decision", "diamond"})
_VERBS: Final = vocabulary(
    "check return query store validate send create update delete get fetch process reserve reject save read write parse build run deploy test push pull commit"
    " start stop wait retry handle execute persist load generate apply verify calculate compute notify publish consume receive log render show display select"
    " submit click open close merge review approve install configure initialize init add remove set extract transform call invoke request trigger route ship"
    " pay charge confirm cancel complete emit accept assign schedule lookup find search filter compare scan sign encrypt decrypt hash resolve redirect"
)
_STEP_KO: Final = re.compile(
    r"\S\s+\S*(?:생성|검증|확인|조회|저장|반환|처리|승인|취소|발행|전송|예약|차감|요청|응답|발송|등록|수정|삭제|배포|빌드|테스트|실행|호출|하기|한다|합니다)$"
)
_ENDPOINT: Final = re.compile(r"^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+/")
_SETTING: Final = re.compile(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\s*[:=]\s*\S*$")
_PATH: Final = re.compile(r"^/[\w/{}*.:-]*$")
_CONSTANT: Final = re.compile(r"^[A-Z]+(?:_[A-Z]+)+$")
# Classes, files and functions: the inside of a program.
_CODE: Final = re.compile(
    r"^(?:[A-Z]\w*)?(?:Controller|Repository|Filter|Interceptor|Helper|Mapper|Entity|Dao|DAO|UseCase|Validator|Converter|Aspect|Middleware|Resolver|Serializer"
    r"|Hook|Page|View|ViewModel|Component|Reducer|Context|Advice|Utils?|Impl|Factory)$|^\w+\(\)$|^[\w/-]+\.(?:tsx?|jsx?|py|java|kt|go|vue|cs|rb|php|rs|svelte)$"
)
_CLASS: Final = re.compile(r"^[A-Z][a-z0-9]+(?:[A-Z]\w*)+$|^(?:Service|Controller|Repository|Entity|DTO)s?$")
_HEADS: Final = PROGRAM_HEADS | STORE_HEADS | BROKER_HEADS | TOPIC_HEADS


def is_step(label: str) -> bool:
    """Whether a box says what is done ("Reserve stock", "결제 승인") rather than what does it."""
    parts = words(label)
    if len(parts) < 2 or parts[-1] in _HEADS:
        return len(parts) >= 2 and _STEP_KO.search(label) is not None
    return len(label.split()) >= 5 or parts[0] in _VERBS or _STEP_KO.search(label) is not None


def _is_process(diagram: Diagram, nodes: list[DrawnNode]) -> bool:
    outgoing: dict[str, list[str]] = {}
    for edge in diagram.edges:
        outgoing.setdefault(edge.source, []).append(edge.label.text)
    for node in nodes:
        if node.shape in _DIAMONDS and (
            node.label.rstrip().endswith("?") or any(_DECISION.match(text) for text in outgoing.get(node.id, []))
        ):
            return True
    if sum(1 for node in nodes if _TERMINAL.match(node.label)) >= 2:
        return True
    steps = sum(1 for node in nodes if is_step(node.label))
    return steps >= 2 and steps * 5 >= len(nodes) * 2


def _no_component(label: str) -> str:
    if _ENDPOINT.match(label) or _PATH.match(label):
        return "an endpoint"
    if _SETTING.match(label) or (_CONSTANT.match(label) and label.lower().split("_")[-1] not in _HEADS):
        return "a setting"
    return ""


def _is_component(label: str) -> bool:
    return bool(_HEADS.intersection(words(label)[-1:])) or technology(label) is not None


def mark(diagram: Diagram) -> None:
    """Make arrows that are no dependencies weak."""
    nodes = [node for node in diagram.nodes.values() if not node.group]
    layers = {" ".join(words(title)) for title in diagram.groups.values()}
    whole = ""
    if _is_process(diagram, nodes):
        whole = "a chart of steps"
    elif any(title.startswith("domain") and title.endswith(("layer", "model")) for title in layers):
        whole = "layers inside one program"
    part = {node.id: why for node in nodes if (why := _no_component(node.label))}
    if sum(1 for node in nodes if _CODE.match(node.label)) >= 2:
        # Among controllers and repositories, OrderService is a class too.
        part.update(
            {node.id: "inside one program" for node in nodes if _CODE.match(node.label) or _CLASS.match(node.label)}
        )
    if not whole and not part:
        return
    # A step is no name that the text around the picture could mean.
    diagram.foreign.update(
        node.id
        for node in nodes
        if node.id in part or (whole and node.role is Role.SERVICE and not _is_component(node.label))
    )
    diagram.edges = [
        replace(edge, confidence=min(edge.confidence, 0.3), weak=edge.weak or why)
        if (why := whole or part.get(edge.source, "") or part.get(edge.target, ""))
        else edge
        for edge in diagram.edges
    ]
