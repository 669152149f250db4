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


class AnchorRow(BaseModel):
    """A name of code in a passage whose code is no longer what the passage was written about."""

    name: str
    state: str = Field(description="changed or gone.")
    passage: str = Field(description="Marker of the passage.")
    path: str = ""
    line: int = 0


class CodeValueRow(BaseModel):
    """What code enforces beside what a passage claims. Show both; neither is judged."""

    name: str
    value: str
    claimed: str | None
    passage: str = Field(description="Marker of the passage.")
    path: str
    line: int


class AnswerResult(BaseModel):
    """An answer with its evidence. Where `abstained`, nothing could be cited: `answer` says what would help."""

    answer: str
    abstained: bool
    abstain_reason: str | None
    confidence: float
    citations: list[CitationRow]
    unverified: list[str] = Field(
        description="Statements of the answer that the evidence does not carry. Do not pass them on as facts."
    )
    edges: list[EdgeRow]
    passages: list[PassageRow]
    findings: list[FindingRow]
    code_anchors: list[AnchorRow] = Field(
        default_factory=list, description="Code that changed or went since the passages were written."
    )
    code_values: list[CodeValueRow] = Field(default_factory=list)
    gaps: list[str] = Field(description="Ranges that telemetry could not read: absence means nothing there.")
    degraded: list[str]
    narrator: str


def answer_result(body: dict[str, Any], most: int = 8) -> AnswerResult:
    """From the JSON of `POST /search/answer`: the evidence that the answer cites first, at most `most` of each."""
    cited = {c["marker"] for c in body["citations"]}

    def nearest(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(items, key=lambda item: item["marker"] not in cited)[:most]

    evidence = body["evidence"]
    markers = {p["rid"]: p["marker"] for p in evidence["passages"]}
    return AnswerResult(
        answer=body["answer"],
        abstained=body["abstained"],
        abstain_reason=body["abstain_reason"],
        confidence=body["confidence"],
        citations=[
            CitationRow(marker=c["marker"], rid=c["rid"], verified=c["verified"], reason=c["reason"])
            for c in body["citations"]
        ],
        unverified=[f"{s['text']} ({s['reason']})" for s in body["unverified"]["sentences"]],
        edges=[edge_row(e) for e in nearest(evidence["edges"])],
        passages=[passage_row(p) for p in nearest(evidence["passages"])],
        findings=[finding_row(f) for f in evidence["findings"][:most]],
        gaps=body["gaps"],
        code_anchors=[
            AnchorRow(
                name=a["name"], state=a["state"], passage=markers.get(a["passage"], ""), path=a["path"], line=a["line"]
            )
            for a in body["code_anchors"]
            if a["state"] in {"changed", "gone"}
        ][:most],
        code_values=[
            CodeValueRow(
                name=v["name"],
                value=v["value"],
                claimed=v["claimed"],
                passage=markers.get(v["passage"], ""),
                path=v["path"],
                line=v["line"],
            )
            for v in body["code_values"]
            if v["claimed"]
        ][:most],
        degraded=body["degraded"],
        narrator=body["narrator"],
    )
