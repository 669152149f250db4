"""Grounded answers: the question, the packet of evidence, the checked answer. Owner: `answer` (answers.md sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from nexus.model.document import Classification
from nexus.model.edge import DesignedEdge, Layer, ObservedEdge
from nexus.model.entity import Entity
from nexus.model.finding import Finding
from nexus.model.service import Node
from nexus.model.window import TimeRange
from nexus.ports.code import CodeAnchor, CodeValue
from nexus.ports.search import Hit

Edge = ObservedEdge | DesignedEdge


class QuestionKind(StrEnum):
    """What is asked. `document` is every question that is not about the graph."""

    CALLERS = "callers"
    CALLEES = "callees"
    WHY = "why"
    PATH = "path"
    CHANGED = "changed"
    DOCUMENTED = "documented"
    IMPACT = "impact"
    HEALTH = "health"
    DOCUMENT = "document"


class Asks(StrEnum):
    """What a question wants to know of that: whether it may be, a promise is kept, it lives now, when it was last; else what there is."""

    PLAIN = ""
    PERMISSION = "permission"
    PROMISE = "promise"
    ALIVE = "alive"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question of one reader. `history` is [(question, answer)], oldest first; `window` cuts observed facts."""

    query: str
    tenant: str
    clearance: Classification
    namespaces: tuple[str, ...] = ()
    top_k: int = 10
    route: str = "auto"
    include_graph: bool = True
    history: tuple[tuple[str, str], ...] = ()
    environment: str | None = None
    window: TimeRange = field(default_factory=TimeRange)
    # (source, target) where the caller names them apart from the question: then it is a why question about these, whatever its words.
    ends: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """A passage under its marker ("1", "2", ...)."""

    marker: str
    hit: Hit


@dataclass(frozen=True, slots=True)
class EdgeEvidence:
    """An edge under its marker ("E1", ...), with the drift findings on it. `hops` from the subject, from 0."""

    marker: str
    edge: Edge
    findings: tuple[Finding, ...] = ()
    hops: int = 0

    @property
    def layer(self) -> Layer:
        """Observed or designed."""
        return Layer.OBSERVED if isinstance(self.edge, ObservedEdge) else Layer.DESIGNED


@dataclass(frozen=True, slots=True)
class Debt:
    """Something wrong with a document that was found: `kind` is superseded, same_title or stale."""

    kind: str
    document: str
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class Route:
    """One path: nodes from source to target, and for each step the rids of the edges that carry it."""

    nodes: tuple[Node, ...]
    steps: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One observed change between two ranges of equal length: `kind` is new, gone, errors, latency or volume."""

    kind: str
    rid: str
    before: float
    after: float
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Packet:
    """All that a narrator may use, from one snapshot. Nothing outside it can be cited."""

    query: str
    language: str
    kind: QuestionKind
    now: datetime
    window: TimeRange
    passages: tuple[PassageEvidence, ...] = ()
    edges: tuple[EdgeEvidence, ...] = ()
    findings: tuple[Finding, ...] = ()
    # Entities of the question in the roles that it gives them (source before target); `ambiguous` are asked back.
    subjects: tuple[Entity, ...] = ()
    ambiguous: tuple[tuple[str, tuple[Entity, ...]], ...] = ()
    unknown: tuple[tuple[str, tuple[str, ...]], ...] = ()
    relation: str = ""
    asks: Asks = Asks.PLAIN
    routes: tuple[Route, ...] = ()
    changes: tuple[Change, ...] = ()
    # Node name -> 1 for those that fail with the subject, 2.. for those behind them (impact questions).
    affected: tuple[tuple[str, int, bool], ...] = ()
    debt: tuple[Debt, ...] = ()
    anchors: tuple[CodeAnchor, ...] = ()
    values: tuple[CodeValue, ...] = ()
    best_cosine: float | None = None
    best_bm25: float | None = None
    weak: bool = False
    route_used: str = ""
    searched: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    # Gaps in what the sources could read, in words; absence is never claimed over one.
    gaps: tuple[str, ...] = ()
    # Kept out of retrieval and never evidence: what the asker said is so.
    user_facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """One marker of the answer. `verified` only where it resolves and its sentence is supported by it."""

    marker: str
    kind: str
    rid: str
    verified: bool
    reason: str = ""
    sentence: int = 0


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """One number of the answer, in its own unit."""

    value: float
    unit: str
    verified: bool
    text: str = ""
    sentence: int = 0


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """One statement of the answer and whether the evidence that it cites carries it."""

    index: int
    text: str
    verified: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking in code found."""

    citations: tuple[Citation, ...] = ()
    numbers: tuple[NumberCheck, ...] = ()
    sentences: tuple[SentenceCheck, ...] = ()

    @property
    def share(self) -> float:
        """Share of the statements that are verified; 0 where there are none."""
        return sum(s.verified for s in self.sentences) / len(self.sentences) if self.sentences else 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its evidence. `confidence` in [0, 1]; its parts are in docs/explanation/answers.md."""

    text: str
    packet: Packet
    verification: Verification
    confidence: float
    narrator: str
    abstained: bool = False
    abstain_reason: str = ""
    degraded: tuple[str, ...] = ()
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """`kind` is evidence (a Packet), delta (text, unverified), done (an Answer) or error (a reason)."""

    kind: str
    packet: Packet | None = None
    text: str = ""
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """A neighbourhood or path question of one reader. Names, aliases or rids of entities."""

    tenant: str
    clearance: Classification
    source: str
    target: str = ""
    namespaces: tuple[str, ...] = ()
    environment: str | None = None
    hops: int = 2
    layer: str = "both"
    window: TimeRange = field(default_factory=TimeRange)


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges around an entity, findings on the edges; `truncated` where a limit cut it."""

    entity: Entity
    nodes: tuple[tuple[Node, int], ...]
    edges: tuple[EdgeEvidence, ...]
    findings: tuple[Finding, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class PathResult:
    """Shortest ways from one entity to another (empty = none found), and the edges on them."""

    source: Entity
    target: Entity
    routes: tuple[Route, ...]
    edges: tuple[EdgeEvidence, ...]
    truncated: bool = False


class Narrator(Protocol):
    """Puts a packet into words. Sees nothing else."""

    name: str

    def narrate(self, packet: Packet) -> Iterator[str]:
        """Text in pieces, with markers in brackets. Raises ModelUnavailable with the reason; what came before stays unverified."""
        ...


class Answerer(Protocol):
    """Questions of one reader, over documents and telemetry."""

    def packet(self, request: AnswerRequest) -> Packet:
        """The evidence alone: the same for every surface."""
        ...

    def answer(self, request: AnswerRequest) -> Answer:
        """Evidence, narration, verification. A failing model gives the evidence and the reason."""
        ...

    def stream(self, request: AnswerRequest) -> Iterator[StreamEvent]:
        """The same in steps: evidence, deltas (unverified), then done."""
        ...


class GraphReader(Protocol):
    """The two layers as one graph."""

    def neighbourhood(self, request: GraphRequest) -> Graph:
        """Edges within 1 or 2 hops. NotFound for an unknown name, BadQuestion (naming the candidates) for an ambiguous one."""
        ...

    def path(self, request: GraphRequest) -> PathResult:
        """Shortest ways along which work flows from source to target."""
        ...

    def suggest(self, request: GraphRequest, limit: int = 10) -> list[Entity]:
        """Entities whose name or alias begins with, contains or resembles `request.source`; best first."""
        ...
