"""The answer as two tools return it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.tools._shapes import EdgeRow, FindingRow, PassageRow, edge_row, finding_row, passage_row


class CitationRow(BaseModel):
    """A citation of the answer and whether it was verified."""

    marker: str
    rid: str | None
    verified: bool
    reason: str | None = None


class AnswerResult(BaseModel):
    """An answer with its evidence. Where `abstained`, nothing could be cited: `answer` says what would help."""

    answer: str
    abstained: bool
    abstain_reason: str | None
    confidence: float
    citations: list[CitationRow]
    unverified: list[str] = Field(description="Statements of the answer that the evidence does not carry. Do not pass them on as facts.")
    edges: list[EdgeRow]
    passages: list[PassageRow]
    findings: list[FindingRow]
    gaps: list[str] = Field(description="Ranges that telemetry could not read: absence means nothing there.")
    degraded: list[str]
    narrator: str


def answer_result(body: dict[str, Any], most: int = 8) -> AnswerResult:
    """From the JSON of `POST /search/answer`: the evidence that the answer cites first, at most `most` of each."""
    cited = {c["marker"] for c in body["citations"]}

    def nearest(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(items, key=lambda item: item["marker"] not in cited)[:most]

    evidence = body["evidence"]
    return AnswerResult(
        answer=body["answer"], abstained=body["abstained"], abstain_reason=body["abstain_reason"], confidence=body["confidence"],
        citations=[CitationRow(marker=c["marker"], rid=c["rid"], verified=c["verified"], reason=c["reason"]) for c in body["citations"]],
        unverified=[f"{s['text']} ({s['reason']})" for s in body["unverified"]["sentences"]],
        edges=[edge_row(e) for e in nearest(evidence["edges"])], passages=[passage_row(p) for p in nearest(evidence["passages"])],
        findings=[finding_row(f) for f in evidence["findings"][:most]], gaps=body["gaps"], degraded=body["degraded"], narrator=body["narrator"],
    )
