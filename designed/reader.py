"""The contract between readers and the rest of `designed/`: what one document says, in its own names.

A *reader* turns one document into a `Reading`: claims, the names it introduces, facts that only mean something together
with other documents, and the problems met. Readers are pure: they take a `SourceText` and a `ReadContext` and raise
nothing; a broken document gives what could be read and `Problem`s with line numbers.

```
SourceText --Reader.read--> Reading(claims, entities, facts, problems)
all readings of a namespace --designed.joins.join--> {path: claims}   (facts of several documents made claims, groups rolled up)
claims --registry--> nexus.model.claim.Claim --> designed edges
```

Plugins: each public module of `designed.readers` has `READER: Final[Reader]`; `nexus.plugins.load_plugins("designed.readers",
"READER")` finds them. `pick` chooses the one that reads a document: the first, by `order` and then name, that accepts it.

Diagrams inside Markdown: the Markdown reader calls `designed.fences.read_fence(language, body, first_line, context)`; lines of
what comes back are lines of the surrounding document, and so are the quotes.

Weak claims: `RawClaim.weak` is the reason why this alone makes no edge ("start order", "a person, not software", ...), empty
for an ordinary claim. They are kept as evidence beside a claim that does make the edge; `attributes["weak"]` of the stored claim
carries the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nexus.model.claim import Modality, Quantity, Via
from nexus.model.document import Problem, SourceText


@dataclass(frozen=True, slots=True)
class RawName:
    """An end of a claim as the document names it, before the registry.

    `name` is the best display name (a node's label rather than its id, without decoration). `kind_hint` is a NodeKind value, or
    empty where the document does not tell. `aliases` are other spellings of the same thing in the same document: the node id,
    the label as a whole, a technology in brackets ("Cache (Valkey)" -> "Cache", "Valkey"), the DNS name. `within` are titles of
    the groups around it, innermost first: where the name means nothing to the registry but a group does, the group is meant
    (an arrow between parts of two components is an arrow between the components).
    """

    name: str
    kind_hint: str = ""
    aliases: tuple[str, ...] = ()
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is said: 1-based, inclusive lines and columns.

    `columns` is (first column on the first line, last column on the last line); `quote` is the text between, verbatim, with
    its line breaks. Columns count characters (code points).
    """

    lines: tuple[int, int]
    columns: tuple[int, int]
    quote: str


@dataclass(frozen=True, slots=True)
class RawClaim:
    """One relation that a document states. `relation` is CALLS, PUBLISHES or SUBSCRIBES, oriented by dependency.

    `rule` is "<format>.<construct>", stable, and has a measured confidence in `designed.confidence`; `confidence` is the
    reader's estimate in 0..1 before that. `drawn` is "reversed" where the arrow or the text runs against the dependency.
    `gateway` and `exclusivity` as in `nexus.model.claim.Claim`.
    """

    relation: str
    source: RawName
    target: RawName
    place: Place
    rule: str
    confidence: float
    via: Via = field(default_factory=Via)
    modality: Modality = Modality.ASSERTED
    quantities: tuple[Quantity, ...] = ()
    gateway: str = ""
    exclusivity: str = ""
    drawn: str = ""
    environment: str = ""
    weak: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawEntity:
    """A name that the document introduces (a diagram's node, a manifest's workload, a catalog's component, a service heading).

    `kind` is a NodeKind value or empty. `declares` is true where the document is the thing's own definition (a manifest, a
    catalog entry, an API specification), false where it is only drawn or mentioned. `group` marks a subgraph or boundary.
    """

    name: str
    kind: str
    place: Place
    aliases: tuple[str, ...] = ()
    declares: bool = False
    group: bool = False
    owner: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fact:
    """Half of a statement, made whole by another document (designed/joins.py). `subject` is the service it is about, may be open.

    | kind | subject | key | value | made by |
    | --- | --- | --- | --- | --- |
    | env | workload | variable | value, or empty = taken from `.env` | compose, kubernetes, helm |
    | argument | workload | command, entrypoint, args | a word that may be an address | compose, kubernetes |
    | env_file | workload | path, from the compose file | "" | compose |
    | mounts | workload | path of a settings file, from the compose file | "" | compose |
    | starts_after | workload | other workload | "" | compose (depends_on) |
    | link | workload | other workload | "" | compose (links) |
    | env_ref | workload | ConfigMap name | prefix | kubernetes (envFrom) |
    | env_key | workload | variable | "configmap/key" | kubernetes (valueFrom) |
    | config | ConfigMap name | variable | value | kubernetes |
    | dotenv | "" | variable | value | dotenv |
    | address | service | DNS name or alias | port(s), comma-separated | compose, kubernetes |
    | label | workload | "label=value" | "" | kubernetes (pod labels) |
    | selector | Service | "label=value" | "" | kubernetes (what a Service selects) |
    | provides | component | API name | "" | backstage, openapi, asyncapi, protobuf |
    | consumes | component | API name | "" | backstage |
    | setting | "" | dotted key path | host:port or URL | json_config |
    | operation | API | "GET /path" or rpc | operationId | openapi, protobuf |
    | workload | workload | its kind | "" | kubernetes |
    | mention | document title | VARIABLE_NAME | "" | markdown: ALL_CAPS names with "_" that a README lists; they narrow a shared ConfigMap |

    `attributes` holds what the join needs besides (namespace, comment, kind of a workload).
    """

    kind: str
    subject: str
    key: str
    value: str
    place: Place
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one reader got out of one document."""

    claims: tuple[RawClaim, ...] = ()
    entities: tuple[RawEntity, ...] = ()
    facts: tuple[Fact, ...] = ()
    problems: tuple[Problem, ...] = ()

    def __add__(self, other: Reading) -> Reading:
        """Both, in order."""
        return Reading(
            self.claims + other.claims,
            self.entities + other.entities,
            self.facts + other.facts,
            self.problems + other.problems,
        )


def no_file(_path: str) -> str | None:
    """No other file can be read."""
    return None


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a reader may know besides the document.

    `read_file` gives the text of a file of the same ingested root by its path inside it (for `!include`), or None; it
    never leaves the root. `path` is the document's path inside the root.
    """

    path: str = ""
    read_file: Callable[[str], str | None] = no_file


class Reader(Protocol):
    """One format. `order` breaks ties (small first): the more special a format, the smaller."""

    @property
    def name(self) -> str:
        """The format's name: the module's."""
        ...

    @property
    def order(self) -> int:
        """Small first; 20 by default, plain text last."""
        ...

    def accepts(self, text: SourceText) -> bool:
        """By suffix and a cheap look at the content; linear in the text's length at worst."""
        ...

    def read(self, text: SourceText, context: ReadContext) -> Reading:
        """Never raises on any text."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """A reader made of two functions. Faults of `read` are bugs, but one document's must not stop the others: they become a problem."""

    name: str
    accepts: Callable[[SourceText], bool]
    reading: Callable[[SourceText, ReadContext], Reading]
    order: int = 20

    def read(self, text: SourceText, context: ReadContext) -> Reading:
        """`reading`, with an unexpected fault turned into a problem of the whole document, and without what has no quote."""
        try:
            found = self.reading(text, context)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as fault:
            return Reading(
                problems=(
                    Problem(
                        context.path or text.path, 0, f"{self.name} reader failed: {type(fault).__name__}: {fault}"
                    ),
                )
            )
        # What cannot be quoted (an empty value of a cut-off document) is not said.
        return Reading(
            tuple(claim for claim in found.claims if claim.place.quote),
            tuple(entity for entity in found.entities if entity.place.quote),
            tuple(fact for fact in found.facts if fact.place.quote),
            found.problems,
        )


def pick(readers: Mapping[str, Reader], text: SourceText) -> Reader | None:
    """The reader of a document, or None where no format fits."""
    for reader in sorted(readers.values(), key=lambda r: (r.order, r.name)):
        if reader.accepts(text):
            return reader
    return None
