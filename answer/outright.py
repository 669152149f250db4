"""What a statement says outright of the evidence that it cites: that nothing failed, that all is well, what most of it is, from where to where. Pure.

Returns a reason, "" where nothing speaks against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from answer.evidence import Evidence
from nexus.model.names import squash

_FLAWLESS = re.compile(
    r"\b(?:without|no|zero) (?:any )?(?:errors?|failures?)\b|\b(?:all|every)\b.{0,40}\bsucce|\bnever fail|(?:오류|에러|실패)(?:가|는)? ?없|(?:모두|전부|항상)\s.{0,20}성공",
    re.IGNORECASE,
)
_WELL = re.compile(r"\b(?:healthy|all good|perfectly fine)\b|정상|건강하|이상\s?없", re.IGNORECASE)
_RANGE = re.compile(
    r"(\d+(?:[.,:]\d+)?)\s?(?:시|일|월|분|초|[A-Za-z%]+)?\s?(?:부터|에서|to|until|and|[-–~])\s?(\d+(?:[.,:]\d+)?)",
    re.IGNORECASE,
)

_MOSTLY = re.compile(r"\b(?:most|mostly|mainly|majority)\b|대부분|주로", re.IGNORECASE)


def outright_reason(statement: str, evidence: Sequence[Evidence]) -> str:
    """What is said outright: that nothing failed, that something is well, from where to where a range goes."""
    edges = [e for e in evidence if e.kind == "edge"]
    heads = [
        int(m[1]) for e in edges for m in [re.search(r"(\d+) errors?", e.windows[0].text if e.windows else "")] if m
    ]
    if _FLAWLESS.search(statement) and any(heads):
        return "the evidence has errors"
    if edges and _WELL.search(statement) and not any(_WELL.search(e.text) for e in evidence):
        return "the evidence gives numbers, and does not say that it is well"
    if _MOSTLY.search(statement) and any(_minor(statement, e) for e in edges):
        return "the evidence has another operation for most of it"
    there = {m.groups() for e in evidence for w in e.windows for m in _RANGE.finditer(w.text)}
    if any((m[2], m[1]) in there and m.groups() not in there for m in _RANGE.finditer(statement)):
        return "the evidence has the range the other way round"
    return ""


def _minor(statement: str, edge: Evidence) -> bool:
    """Whether the only operations that a statement names make up less than half of what the edge counts."""
    total = re.search(r": (\d+) (?:calls?|messages?)", edge.windows[0].text) if edge.windows else None
    if total is None:
        return False
    causes = [
        m
        for w in edge.windows
        for m in [re.match(r"cause: (.*?) (?:of|triggers) .*: (\d+) (?:calls?|messages?)$", w.text)]
        if m
    ]
    named = [int(m[2]) for m in causes if squash(m[1]) in squash(statement)]
    return bool(named) and 2 * max(named) < int(total[1])
