"""From drawn arrows to dependencies: what every diagram format shares. Pure.

An arrow in a picture is read by what stands at its ends:

| drawn | meaning |
| --- | --- |
| service -> service | source CALLS target |
| service -> store, store -> service | service CALLS store; the second is drawn reversed (data flow) |
| service -> broker or topic | service PUBLISHES; SUBSCRIBES where the label says consume, subscribe, poll |
| broker or topic -> service | service SUBSCRIBES |
| anything -> broker, label names a topic | PUBLISHES/SUBSCRIBES that topic |
| anything -> browser, client; store -> store; telemetry | weak: an answer, a replication, an export |
| to or from a C4 person | weak: a person, not software |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from designed.kinds import BROKER_TECH, ROLE_KIND, STORE_TECH, Role, bracketed, plain_name, role_of, vocabulary, words
from designed.labels import Label
from designed.reader import Place, RawClaim, RawEntity, RawName
from nexus.model.claim import Modality

_TELEMETRY: Final = re.compile(r"otlp|telemetry|metrics?|traces?|spans?|logs?|scrape", re.IGNORECASE)
# A broker depends on them as on any service; nothing is published there.
_REGISTRIES: Final = vocabulary("zookeeper consul etcd keeper")
_TESTS: Final = vocabulary("test tests e2e cypress playwright 테스트")
_ADDRESS: Final = re.compile(r"[\w.-]+:\d{2,5}")
_PROGRAM_GROUPS: Final = vocabulary("service svc server microservice worker gateway 서비스 서버 게이트웨이")
# Groups that may be components; deployment nodes and C4 boundaries never are.
_FOLDABLE: Final = frozenset(
    {"subgraph", "package", "rectangle", "frame", "folder", "component", "cluster", "container"}
)
# More arrows in one statement (`A & B & ... --> C & D & ...`), or deeper groups, are a mistake or an attack.
MAX_PAIRS: Final = 2_000
MAX_DEPTH: Final = 64
_KEPT: Final = frozenset({Role.STORE, Role.BROKER, Role.TOPIC})
MESSAGING: Final = frozenset({Role.BROKER, Role.TOPIC})


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node: its id in the diagram, its label, its role. `within` are the ids of the groups around it, innermost first."""

    id: str
    label: str
    role: Role
    place: Place
    aliases: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    # Shape or stereotype as written; readers use it to tell steps from components.
    shape: str = ""
    group: bool = False
    # A part of a component (C4 component): arrows go to the whole, the id of which this is.
    part_of: str = ""
    technology: str = ""
    # Everything written in the node, where the label is only the first line of it.
    detail: str = ""

    def raw(self, groups: Mapping[str, str]) -> RawName:
        """The node as a raw name; `groups` are titles by group id."""
        name = plain_name(self.label)
        main, bracket = bracketed(name)
        # A bracket that is a port, a number or a sentence is no other name.
        extra = (main, bracket) if bracket and len(bracket.split()) <= 3 else (main,)
        aliases = tuple(dict.fromkeys(a for a in (self.id, self.label, *extra, *self.aliases) if a and a != name))
        kind = "" if self.group else ROLE_KIND[self.role]
        return RawName(name, kind, aliases, tuple(groups[g] for g in self.within if groups.get(g, "").strip()))


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An arrow from `source` to `target` (node ids) with its label, as drawn."""

    source: str
    target: str
    label: Label
    place: Place
    directed: bool = True
    rule: str = ""
    confidence: float = 0.95
    modality: Modality | None = None
    weak: str = ""
    environment: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Diagram:
    """Nodes by id in order of appearance, arrows, and titles of groups by id."""

    nodes: dict[str, DrawnNode] = field(default_factory=dict)
    edges: list[DrawnEdge] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    # Nodes that an included file declares: known here, but quoted there.
    foreign: set[str] = field(default_factory=set)
    _raw: dict[str, tuple[DrawnNode, RawName]] = field(default_factory=dict)

    def name_of(self, node: DrawnNode) -> RawName:
        """The node as a raw name; kept, for an arrow-rich node is asked for often."""
        kept = self._raw.get(node.id)
        if kept is None or kept[0] is not node:
            # Only a group that may be a component can be meant by a part of it; a store in a service is not the service.
            titles = {
                g: t
                for g in node.within
                if (t := self.groups.get(g, "")) and self.nodes.get(g) and self.nodes[g].shape in _FOLDABLE
            }
            kept = (node, node.raw(titles if node.role in (Role.SERVICE, Role.TELEMETRY) else {}))
            self._raw[node.id] = kept
        return kept[1]

    def entities(self) -> tuple[RawEntity, ...]:
        """What the diagram introduces."""
        found = []
        for node in self.nodes.values():
            if node.id in self.foreign:
                continue
            raw = self.name_of(node)
            found.append(RawEntity(raw.name, raw.kind_hint, node.place, raw.aliases, group=node.group))
        return tuple(found)

    def claims(self) -> tuple[RawClaim, ...]:
        """The dependencies that the arrows mean; one per statement (a diagram may say a thing twice)."""
        found: list[RawClaim] = []
        for edge in self.edges:
            found += _orient(self, edge)
        return tuple(found)

    def fold(self) -> None:
        """Make groups that are components of their own whole: arrows to their parts are arrows to them.

        A group named like a product ("Prometheus", "OTel Collector") is that product, with everything inside; boxes in a broker
        are its channels. One named like a program ("Order Service") is that program; the stores and channels drawn inside keep
        their own arrows.
        """
        members: dict[str, list[DrawnNode]] = {}
        for node in self.nodes.values():
            for outer in node.within:
                members.setdefault(outer, []).append(node)
        for ident, group in list(self.nodes.items()):
            if not group.group or group.shape not in _FOLDABLE or not group.label.strip():
                continue
            title = set(words(group.label))
            # "Kafka" is a product, "Message Broker" a heading.
            product = len(title) <= 3 and (
                group.role is Role.TELEMETRY
                or (group.role in (Role.STORE, Role.BROKER) and bool(title & (BROKER_TECH | STORE_TECH)))
            )
            program = (
                group.role is Role.SERVICE
                and words(group.label)[-1:]
                and words(group.label)[-1] in _PROGRAM_GROUPS
                and len(words(group.label)) > 1
            )
            inside = members.get(ident, [])
            if not (product or program) or not inside or any(node.group for node in inside):
                continue
            if product and group.role is Role.BROKER:
                # What stands in a broker and is not named like it is one of its channels.
                for node in inside:
                    if node.role is Role.SERVICE and not _shares(group.label, node.label):
                        self.nodes[node.id] = replace(node, role=Role.TOPIC)
                parts = [node for node in inside if _shares(group.label, node.label)]
            elif product:
                parts = [
                    node
                    for node in inside
                    if node.role not in _KEPT or _shares(group.label, node.label) or group.role is Role.TELEMETRY
                ]
            else:
                parts = [node for node in inside if node.role not in _KEPT]
            if (
                program
                and len(
                    {
                        plain_name(node.label).lower()
                        for node in parts
                        if node.role is Role.SERVICE and _is_service(node.label)
                    }
                )
                > 1
            ):
                # Several services stand in it: a grouping after all.
                continue
            self.nodes[ident] = replace(group, group=False)
            for node in parts:
                self.nodes[node.id] = replace(node, part_of=ident)

    def whole(self, node_id: str) -> DrawnNode:
        """The node, or the component that it is a part of."""
        node = self.nodes[node_id]
        seen = {node_id}
        while node.part_of and node.part_of in self.nodes and node.part_of not in seen:
            seen.add(node.part_of)
            node = self.nodes[node.part_of]
        return node


def node_role(label: str, technology: str = "", hint: Role | None = None, node_id: str = "") -> Role:
    """Role of a node: a hint of its shape (a cylinder, an actor), the label, then its id where the label says nothing."""
    if hint in (Role.PERSON, Role.CLIENT):
        return hint
    role = role_of(label, technology)
    if hint is Role.TOPIC and role is Role.BROKER and role_of(label) is Role.SERVICE:
        # A queue drawn as one, with the broker as its technology.
        return Role.TOPIC
    if role is Role.SERVICE and hint is not None:
        # A cylinder whose name is a program's ("Order service") is still drawn as a store; a queue shape likewise.
        return hint
    if role is Role.SERVICE and node_id and node_id.lower() != label.lower():
        by_id = role_of(node_id)
        if by_id in MESSAGING or (by_id is Role.STORE and hint is Role.STORE):
            return by_id
    return role


def _orient(diagram: Diagram, edge: DrawnEdge) -> list[RawClaim]:
    source, target = diagram.whole(edge.source), diagram.whole(edge.target)
    if source.id == target.id:
        return []
    weak, drawn = edge.weak, ""
    if _leaves_listener(edge.label.text, diagram.nodes[edge.source].detail, diagram.nodes[edge.target].detail):
        # The arrow carries the address at which its own source listens: data flows along it, the call runs against it.
        source, target, drawn, weak = target, source, "reversed", weak or "data flow out of a listening address"
        return [_claim(edge, "CALLS", diagram.name_of(source), diagram.name_of(target), drawn=drawn, weak=weak)]
    a, b = source.role, target.role
    relation = "CALLS"
    if a in MESSAGING and b in MESSAGING:
        weak = weak or "between channels"
    elif (a in MESSAGING or b in MESSAGING) and not (
        {a, b} & MESSAGING and _REGISTRIES & {*words(source.label), *words(target.label)}
    ):
        return _messaging(diagram, edge, source, target)
    elif a is Role.STORE and b is Role.STORE:
        weak = weak or "replication between stores"
    elif a is Role.STORE and b not in MESSAGING:
        source, target, drawn = target, source, "reversed"
    if set(words(source.label)) & _TESTS and "load" not in words(source.label):
        weak = weak or "a test"
    if Role.PERSON in (a, b):
        weak = weak or "a person, not software"
    elif b is Role.CLIENT and a is not Role.CLIENT:
        weak = weak or "an answer to a client"
    elif (
        a is not Role.TELEMETRY
        and _TELEMETRY.search(edge.label.text)
        and (b is Role.TELEMETRY or "otlp" in edge.label.text.lower())
    ):
        weak = weak or "telemetry"
    return [_claim(edge, relation, diagram.name_of(source), diagram.name_of(target), drawn=drawn, weak=weak)]


def _leaves_listener(label: str, source: str, target: str) -> bool:
    address = _ADDRESS.search(label)
    return address is not None and address.group(0) in source and address.group(0) not in target


def _shares(title: str, label: str) -> bool:
    """Whether a part is named like the whole: in a word, or written together ("RabbitMQ", "rabbitmq management")."""
    return bool(set(words(title)) & set(words(label))) or "".join(words(title)) in "".join(words(label))


def _is_service(label: str) -> bool:
    return bool(set(words(label)[-1:]) & _PROGRAM_GROUPS)


def _messaging(diagram: Diagram, edge: DrawnEdge, source: DrawnNode, target: DrawnNode) -> list[RawClaim]:
    outgoing = target.role in MESSAGING
    program, channel = (source, target) if outgoing else (target, source)
    weak = edge.weak
    if program.role in (Role.PERSON, Role.CLIENT):
        weak = weak or "a person, not software"
    elif program.role is Role.STORE and not outgoing:
        weak = weak or "a sink without a program"
    reads = edge.label.reads and not edge.label.writes
    if not edge.directed and not (edge.label.reads or edge.label.writes):
        weak = weak or "direction not drawn"
    relation = ("SUBSCRIBES" if reads else "PUBLISHES") if outgoing else "SUBSCRIBES"
    # "queue -> worker" is drawn against the dependency; "worker -> queue: consumes" is not.
    drawn = "" if outgoing else "reversed"
    raw_channel = diagram.name_of(channel)
    topics = edge.label.topics if channel.role is Role.BROKER else ()
    targets = [RawName(topic, "topic", (), raw_channel.within) for topic in topics] or [raw_channel]
    broker = "|".join((raw_channel.name, *raw_channel.aliases)) if channel.role is Role.BROKER else ""
    return [
        _claim(edge, relation, diagram.name_of(program), name, drawn=drawn, weak=weak, broker=broker)
        for name in targets
    ]


def _claim(
    edge: DrawnEdge, relation: str, source: RawName, target: RawName, *, drawn: str, weak: str, broker: str = ""
) -> RawClaim:
    label = edge.label
    names = broker.split("|")
    channel = target.name if relation != "CALLS" and target.name != names[0] else ""
    attributes = {
        **edge.attributes,
        **({"label": label.text} if label.text else {}),
        **({"broker": names[0]} if broker else {}),
    }
    if len(names) > 1:
        attributes["broker_aliases"] = "|".join(names[1:])
    return RawClaim(
        relation,
        source,
        target,
        edge.place,
        edge.rule,
        edge.confidence if edge.directed else min(edge.confidence, 0.6),
        label.via(channel),
        edge.modality or label.modality,
        label.quantities,
        drawn=drawn,
        environment=edge.environment,
        weak=weak,
        attributes=attributes,
    )
