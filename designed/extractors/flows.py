"""Arrows in plain text: `order → payment`, `orders.placed (order → shipping)`. Pure.

In running text, in list items and in fences without a language. Both sides must be names; an arrow back along one that the
same block drew already is its answer. Rule: `flow.arrow`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from designed.extractors.flat import Flat
from designed.extractors.lexicon_en import PREPOSITIONS, SUBORDINATORS
from designed.extractors.names import Name
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Statement
from designed.reader import RawName
from nexus.model.mentions import PARTICLE
from nexus.model.names import hyphenated
from nexus.model.service import NodeKind

ARROW = re.compile(
    r"[-─—=]*(?:\[[^\]\n]{0,40}\]|\([^)\n]{0,40}\))?[-─—=]+[>▶►]|[-─—=]+\[[^\]\n]{0,40}\][-─—=]*[>▶►]|→|⇒|➔|➜|➡️?|⟶"
)
_ORDER = re.compile(r"(?:시작|기동|실행|배포|부팅) ?순서|(?:start(?:up)?|boot|deploy(?:ment)?) order", re.IGNORECASE)
FENCES = frozenset({"", "text", "txt", "plaintext", "plain", "console", "ascii"})
_ACTOR = re.compile(
    r"(?:react |web |mobile |admin )?(?:client|browser|user|users|frontend|web ?app|mobile ?app|customer|클라이언트|브라우저|사용자|프론트엔드|프런트엔드|고객|웹|앱|모바일 앱)",
    re.IGNORECASE,
)
_LIBRARY = re.compile(
    r"(?:open)?feign ?(?:client)?|rest ?template|web ?client|https?|rest|grpc|websocket|tcp|sdk|circuit breaker|retry|json",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[`*]*\s*(?:\([^()]*\)\s*)?(?:,|&|,? and|및|,? 그리고)\s*[`*]*")
_EXTERNAL = re.compile(r"[A-Za-z가-힣][\w가-힣.]*(?: [A-Za-z가-힣][\w가-힣.]*){0,2} API")


def arrow_statements(
    flat: Flat, start: int, end: int, names: Sequence[Name], drawn: set[tuple[str, str]]
) -> list[Statement]:
    """Statements of the arrows in [start, end). `drawn` holds the arrows of the block so far."""
    if (cut := flat.text.find(";", start, end)) >= 0:
        # "a -> b; a -> c": two that begin anew.
        return [
            *arrow_statements(flat, start, cut, names, drawn),
            *arrow_statements(flat, cut + 1, end, names, drawn),
        ]
    arrows = list(ARROW.finditer(flat.text, start, end))
    if not arrows:
        return []
    bounds = [start, *[b for m in arrows for b in m.span()], end]
    sides = [(bounds[i], bounds[i + 1]) for i in range(0, len(bounds), 2)]
    ends = [
        (_named(flat, a, b, names, first=i > 0, last=i < len(sides) - 1), flat.text[a:b])
        for i, (a, b) in enumerate(sides)
    ]
    first, last = ends[0][0], ends[-1][0]
    if _ORDER.search(flat.text, start, arrows[0].start()) or (_acts(last) and first is not None and not _acts(first)):
        # The order of starts, and the way back of an answer.
        return []
    made: list[Statement] = []
    previous = first
    for index in range(1, len(ends)):
        here, label = ends[index]
        if here is None and _LIBRARY.fullmatch(label.strip(" `*[]()")):
            continue
        if previous is not None and here is not None and previous.key != here.key:
            made += _arrow(flat, sides[0], sides[index], previous, here, names, arrows[index - 1].start(), drawn)
            for other in _further(flat, here, names, sides[index][1]) if index == len(ends) - 1 else ():
                made += _arrow(flat, sides[0], sides[index], previous, other, names, arrows[index - 1].start(), drawn)
        previous = here
    return made


def _acts(name: Name | None) -> bool:
    """Whether a side is a person, browser or app."""
    return name is not None and name.key.startswith("actor:")


def arrow_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The stretch [start, end) of a document line by line where each line draws arrows of its own; whole where lines go on with one another."""
    found, position = [], start
    for line in text[start:end].splitlines(keepends=True):
        bare = line.strip()
        arrows = list(ARROW.finditer(bare))
        if not arrows or arrows[0].start() == 0 or arrows[-1].end() == len(bare):
            return [(start, end)]
        found.append((position, position + len(line)))
        position += len(line)
    return found


def _further(flat: Flat, first: Name, names: Sequence[Name], end: int) -> Iterator[Name]:
    """‘→ A, B and C’: the names after the first, where nothing but commas and brackets stands between."""
    last = first
    for name in names:
        if first.end < name.start < end and first.start >= 0 and name.key != first.key:
            if _LISTED.fullmatch(flat.text[last.end : name.start]) is None:
                return
            last = name
            yield name


def _arrow(
    flat: Flat,
    head: tuple[int, int],
    tail: tuple[int, int],
    left: Name,
    right: Name,
    names: Sequence[Name],
    at: int,
    drawn: set[tuple[str, str]],
) -> Iterator[Statement]:
    if (right.key, left.key) in drawn or _acts(right):
        return
    drawn.add((left.key, right.key))
    carried = _topic_before(flat, head, names)
    if carried and not left.topic and not right.topic:
        for topic in carried:
            yield _make(PUBLISHES, left, topic, at)
            yield _make(SUBSCRIBES, right, topic, at, "reversed")
        return
    if left.topic and not right.topic:
        yield _make(SUBSCRIBES, right, left, at, "reversed")
    elif right.topic and not left.topic:
        inside = [n for n in names if tail[0] <= n.start < tail[1] and n.topic and not n.product and n.key != right.key]
        for topic in inside or [right]:
            yield _make(PUBLISHES, left, topic, at)
    elif not left.passive:
        yield _make(CALLS, left, right, at)


def _topic_before(flat: Flat, head: tuple[int, int], names: Sequence[Name]) -> list[Name]:
    """Topics before a bracket that holds the arrow: `order.created` (order → shipping)."""
    opened = flat.text.rfind("(", *head)
    if opened < 0:
        return []
    return [n for n in names if head[0] <= n.start < opened and n.topic and not n.product]


def _named(flat: Flat, start: int, end: int, names: Sequence[Name], *, first: bool, last: bool) -> Name | None:
    """The name beside the arrow: at the beginning of what follows one, at the end of what precedes one."""
    text = flat.text
    inside = [n for n in names if start <= n.start < end and not (n.doubtful and _step(text, start, end, n))]
    if first:
        begin = start + len(text[start:end]) - len(text[start:end].lstrip(" `*[(\"'"))
        found = next((n for n in inside if n.start <= begin + 1), None)
        if found is not None and (
            not last or re.fullmatch(r"[\s`*\])\"'.,]*(?:\([^)]*\))?[\s`*\])\"']*|.*", text[found.end : end])
        ):
            return found
        label = re.split(r"[(（:,.]|\s[-–]\s|\n", text[begin:end], maxsplit=1)[0].strip(" `*[]\"'")
        return _open(begin, label)
    if inside:
        found = inside[-1]
        if re.fullmatch(r"[\s`*\])\"':]*(?:\([^)]*\)?)?[\s`*\])\"']*", text[found.end : end]):
            return found
    label = re.split(r"[:,.(]\s|^\s*\d+[.)]\s", text[start:end])[-1].strip(" `*[]\"'(")
    return _open(start, label)


def _step(text: str, start: int, end: int, name: Name) -> bool:
    """‘좌석 선점’, "order intake": with another noun beside it a common word is no name."""
    before = re.search(r"(?:^|[\s`*(])[\w가-힣]+ [`*]*$", text[start : name.start])
    after = re.match(r"[`*]* ([\w가-힣]+)", text[name.end : end])
    return before is not None or (
        after is not None
        and PARTICLE.fullmatch(after[1]) is None
        and after[1] not in PREPOSITIONS | SUBORDINATORS | {"and", "or"}
    )


def _open(at: int, label: str) -> Name | None:
    label = re.sub(r"^\d+[.)]\s*", "", label)
    if _ACTOR.fullmatch(label):
        return Name(at, at, at, RawName(label, ""), f"actor:{hyphenated(label)}", "")
    if _EXTERNAL.fullmatch(label):
        return Name(
            at, at, at, RawName(label, NodeKind.EXTERNAL.value), f"name:{label.casefold()}", NodeKind.EXTERNAL.value
        )
    return None


def _make(relation: str, source: Name, target: Name, at: int, drawn: str = "") -> Statement:
    return Statement(relation, source.raw, source.key, target.raw, target.key, "flow.arrow", at, drawn=drawn)
