"""What one sentence states, in either language, before it becomes a claim."""

from __future__ import annotations

from dataclasses import dataclass, field

from designed.extractors.names import Name
from designed.reader import RawName
from nexus.model.claim import Modality
from nexus.model.edge import Relation
from nexus.model.service import NodeKind

CALLS, PUBLISHES, SUBSCRIBES = Relation.CALLS.value, Relation.PUBLISHES.value, Relation.SUBSCRIBES.value


@dataclass(frozen=True, slots=True)
class Context:
    """What surrounds a sentence: `subject` is the service whose section or document it stands in, `rule` the prefix of rules.

    `kind` of the subject may be open. `previous` is the single subject of the sentence before, in the same paragraph.
    """

    subject: RawName | None
    subject_key: str
    rule: str
    heading: Modality | None = None
    previous: Name | None = None
    # The one topic that the sentence before is about: "this event", 이 이벤트를.
    topic: Name | None = None
    # Phrases without a subject speak of the row's or item's thing.
    fragment: bool = False
    # The innermost heading names the subject: its list items describe it ("Using Redis as a cache", "Publish `x`").
    described: bool = False
    # The broker that the section's heading names.
    broker: str = ""


@dataclass(slots=True)
class Statement:
    """A relation between two names, with where its verb stands in the flat text."""

    relation: str
    source: RawName
    source_key: str
    target: RawName
    target_key: str
    rule: str
    verb: int
    modality: Modality = Modality.ASSERTED
    drawn: str = ""
    gateway: str = ""
    exclusivity: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


def relation_of(code: str, target_kind: str, *, brought: bool, asynchronous: bool = False) -> str:
    """Relation of a slot's code for a target of a kind; "" where the two do not go together: a topic is not called."""
    topic = target_kind == NodeKind.TOPIC
    if code == "p":
        return PUBLISHES if topic else ""
    if code == "s":
        return SUBSCRIBES if topic else ""
    if code == "P":
        return PUBLISHES if topic or target_kind in (NodeKind.SERVICE, "") else CALLS
    if code == "S":
        return SUBSCRIBES if topic or target_kind in (NodeKind.SERVICE, "") else CALLS
    if code == "W":
        return PUBLISHES if topic and not (brought and not asynchronous) else "" if topic else CALLS
    if code == "R":
        return SUBSCRIBES if topic else CALLS
    if code == "d":
        return CALLS if target_kind == NodeKind.DATABASE else ""
    if code == "C":
        return "" if topic else CALLS
    return ""
