"""What a document says, with the place where it says so (designed-edges.md section 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from nexus.model.document import Classification, DocumentRef


class Modality(StrEnum):
    """How a document means a claim. Only ASSERTED, CONDITIONAL and EXCLUSIVE expect to be observed."""

    ASSERTED = "asserted"
    PLANNED = "planned"
    DEPRECATED = "deprecated"
    FORBIDDEN = "forbidden"
    CONDITIONAL = "conditional"
    EXCLUSIVE = "exclusive"
    HISTORICAL = "historical"


EXPECTS_OBSERVATION: frozenset[Modality] = frozenset({Modality.ASSERTED, Modality.CONDITIONAL, Modality.EXCLUSIVE})


@dataclass(frozen=True, slots=True, order=True)
class Via:
    """How, where the text says so; an empty part is open and matches anything."""

    protocol: str = ""
    operation: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that a text promises.

    `metric` is latency_p99_ms, latency_p95_ms, max_calls_per_request, success_rate, read_only, exactly_once or schedule
    (then `text` holds a cron expression or the words).
    """

    metric: str
    value: float | None = None
    unit: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of one document.

    `source` and `target` are names as resolved by the registry (canonical where it knows them, else as written);
    kinds are NodeKind values. `lines` and `columns` are 1-based and inclusive, `quote` is verbatim there.
    For relations among more than two (exclusive: "only via gateway") `gateway` names the third.
    """

    relation: str
    source: str
    target: str
    source_kind: str
    target_kind: str
    document: DocumentRef
    lines: tuple[int, int]
    columns: tuple[int, int]
    quote: str
    format: str
    rule: str
    confidence: float
    modality: Modality = Modality.ASSERTED
    via: Via = Via()
    quantities: tuple[Quantity, ...] = ()
    classification: Classification = Classification.INTERNAL
    gateway: str = ""
    # "only_by": only this source may use the target; "only_via": only through `gateway`. Empty unless EXCLUSIVE.
    exclusivity: str = ""
    environment: str = ""
    # The direction as drawn or written, where it differs from the dependency's.
    drawn: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    # Of the document. The store fills it; the diff needs it to cut a stored report to what a reader may see.
    namespace: str = "default"
