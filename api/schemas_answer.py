"""Requests and responses of search and answers, as OpenAPI and MCP describe them. Unknown fields of a request are refused."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from nexus.errors import Forbidden
from nexus.model.document import Classification
from nexus.model.principal import Principal
from nexus.model.window import TimeRange
from nexus.ports.answers import AnswerRequest

# NUL cannot be stored or searched.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]


def _written(value: object) -> object:
    """Times are RFC 3339 text; a number is no time, whatever pydantic would make of it."""
    if value is not None and not isinstance(value, str | datetime):
        msg = "must be a time as text, like 2026-01-15T13:00:00Z"
        raise ValueError(msg)
    return value


Moment = Annotated[datetime, BeforeValidator(_written)]
Route = Literal["auto", "hybrid_only", "keyword_only", "vector_only", "hybrid_then_graph"]


class Strict(BaseModel):
    """A request body."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Turn(Strict):
    """One earlier question with its answer."""

    question: Text = Field(max_length=4000)
    answer: Text = Field("", max_length=20000)


class AnswerBody(Strict):
    """A question. `clearance` can only lower the caller's own."""

    query: Text = Field(min_length=1, max_length=4000, examples=["why does checkout call fx?"])
    top_k: int = Field(10, ge=1, le=100)
    route: Route = "auto"
    clearance: Classification | None = None
    namespace: Text | None = Field(None, max_length=200)
    include_graph: bool = True
    history: list[Turn] = Field(default_factory=list, max_length=20)
    environment: Text | None = Field(None, max_length=200, description="Only telemetry of this environment.")
    start: Moment | None = Field(
        None, alias="from", description="Only telemetry from here on; default: all that is kept."
    )
    end: Moment | None = Field(None, alias="to")

    def request(self, caller: Principal) -> AnswerRequest:
        """The question of this caller. Forbidden for a namespace that the caller may not read."""
        return AnswerRequest(
            self.query,
            caller.tenant,
            caller.lowered(self.clearance),
            namespaces_of(caller, self.namespace),
            top_k=self.top_k,
            route=self.route,
            include_graph=self.include_graph,
            history=tuple((turn.question, turn.answer) for turn in self.history),
            environment=self.environment,
            window=time_range(self.start, self.end),
        )


def namespaces_of(caller: Principal, namespace: str | None) -> tuple[str, ...]:
    """The document namespaces of a request: the one asked for, where the caller may read it, else all of the caller's."""
    if namespace is None:
        return caller.namespaces
    if caller.namespaces and namespace not in caller.namespaces:
        raise Forbidden(f"the token of {caller.name} does not reach the namespace {namespace}")
    return (namespace,)


def time_range(start: datetime | None, end: datetime | None) -> TimeRange:
    """A range in UTC; a time without zone is UTC. BadQuestion where it ends before it begins, or lies outside the calendar."""
    from datetime import UTC

    from nexus.errors import BadQuestion

    def utc(at: datetime | None) -> datetime | None:
        if at is None:
            return None
        try:
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except OverflowError as error:
            raise BadQuestion("from, to: outside the calendar") from error

    first, last = utc(start), utc(end)
    if first is not None and last is not None and last <= first:
        raise BadQuestion("to: must be after from")
    return TimeRange(first, last)


Json = dict[str, Any]


class Fit(BaseModel):
    """How well what was found fits the question."""

    best_cosine: float | None
    best_bm25: float | None
    weak: bool


class CitationOut(BaseModel):
    """A marker of the answer, checked: it resolves, and its sentence is carried by it."""

    marker: str
    kind: Literal["passage", "edge"]
    rid: str | None
    verified: bool
    reason: str | None = None
    sentence: int


class NumberOut(BaseModel):
    """A number of the answer, checked against the evidence cited for it."""

    value: float
    unit: str
    verified: bool
    text: str
    sentence: int


class UnverifiedSentence(BaseModel):
    """A statement that did not pass."""

    index: int
    text: str
    reason: str


class Unverified(BaseModel):
    """How much did not pass."""

    citations: int
    numbers: int
    sentences: list[UnverifiedSentence]


class EvidenceOut(BaseModel):
    """All that may be cited: passages, edges of both layers (as `GET /edges` shows them, with a marker), findings on them."""

    passages: list[Json]
    edges: list[Json]
    findings: list[Json]


class PacketOut(BaseModel):
    """The evidence for a question."""

    results: list[Json]
    graph: Json
    fit: Fit
    route_used: str
    question: Json
    evidence: EvidenceOut
    document_debt: list[Json]
    code_anchors: list[Json]
    code_values: list[Json]
    changes: list[Json]
    affected: list[Json]
    searched: list[str]
    gaps: list[str]
    degraded: list[str]


class AnswerOut(PacketOut):
    """An answer: text with markers, the check of each, and the evidence."""

    answer: str
    abstained: bool
    abstain_reason: Literal["no_evidence", "ambiguous", "unknown_name"] | None
    confidence: float = Field(ge=0, le=1)
    citations: list[CitationOut]
    numbers: list[NumberOut]
    unverified: Unverified
    narrator: str
    took_ms: float


class GraphOut(BaseModel):
    """A neighbourhood."""

    entity: Json
    nodes: list[Json]
    edges: list[Json]
    findings: list[Json]
    truncated: bool


class PathOut(BaseModel):
    """Ways from one entity to another; empty where there is none."""

    source: Json
    target: Json
    paths: list[Json]
    edges: list[Json]
    truncated: bool
