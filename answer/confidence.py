"""Confidence of an answer, in [0, 1]. Pure.

Monotone in its parts: it never falls when one of them rises. The weights were set by hand against the labelled questions of `bench/eval_answers.py`, of one
system, which prints how often answers of each confidence were right; see docs/explanation/answers.md.

- fit: how well what was found fits the question (1 for edges of the entities asked about; for passages the share of the question's terms, damped where weak);
- verified: share of the answer's statements that passed the check;
- support: independent items cited, saturating at three;
- agreement: 1 where both layers say the same of what is cited, 0.5 where only one speaks, 0 where they disagree;
- freshness: 1, less the share of cited passages that are stale or superseded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from answer.evidence import passage_windows
from answer.fit import overlap
from nexus.model.finding import Flag
from nexus.ports.answers import Packet, QuestionKind, Verification

BIAS, FIT, VERIFIED, SUPPORT, AGREEMENT, FRESHNESS = -7.1, 4.6, 3.4, 0.6, 0.5, 1.2


@dataclass(frozen=True, slots=True)
class Parts:
    """Each in [0, 1]; more is better."""

    fit: float
    verified: float
    support: float
    agreement: float
    freshness: float


def parts(packet: Packet, verification: Verification) -> Parts:
    """The parts of an answer's confidence."""
    cited = {c.marker for c in verification.citations if c.verified}
    passages = [p for p in packet.passages if p.marker in cited]
    edges = [e for e in packet.edges if e.marker in cited]
    best = max(
        (
            overlap(packet.query, " ".join((*p.hit.passage.section, *passage_windows(p.hit.passage.text))))
            for p in passages
        ),
        default=0.0,
    )
    fit = best * (0.6 if packet.weak else 1.0)
    if packet.kind is not QuestionKind.DOCUMENT and edges:
        fit = 1.0 if any(e.hops == 0 for e in edges) or packet.routes else 0.6
    flags = {f.flag for e in edges for f in e.findings}
    layers = {e.layer for e in edges}
    agreement = 0.0 if Flag.CONFLICT in flags else 1.0 if len(layers) == 2 or Flag.CONFIRMED in flags else 0.5
    debt = {d.document for d in packet.debt if d.kind in {"stale", "superseded"}}
    old = sum(p.hit.passage.document.rid in debt for p in passages) / len(passages) if passages else 0.0
    return Parts(fit, verification.share, min(len(cited), 3) / 3, agreement, 1.0 - old)


def confidence(found: Parts) -> float:
    """Logistic in the parts, each with a weight that is not negative."""
    z = (
        BIAS
        + FIT * found.fit
        + VERIFIED * found.verified
        + SUPPORT * found.support
        + AGREEMENT * found.agreement
        + FRESHNESS * found.freshness
    )
    return round(1.0 / (1.0 + math.exp(-z)), 3) if found.verified > 0 else 0.0
