"""Who is who: observed nodes and documented names mapped to the same identities.

An *identity* is "kind:name". An observed node may have several: its own, that of the entity that the registry ties it to,
and for a database those of its host and of its name, for a virtual node those of its aliases. A documented name matches
an observed node when they share one. So an alias never shows as both a dead document and a shadow dependency.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from diff.families import family, is_product
from nexus.model.edge import ObservedEdge
from nexus.model.entity import Entity
from nexus.model.names import keys
from nexus.model.registry import Registry
from nexus.model.service import ADDRESS_CLASS, UNNAMED, Node, NodeKind

# Kinds that a document's word for a thing may turn out to be in traces.
_OPEN_KINDS = frozenset({NodeKind.SERVICE, NodeKind.EXTERNAL, NodeKind.API})
# Observed kind -> kinds of registry entities that it may turn out to be.
_JOINS: dict[str, frozenset[str]] = {
    NodeKind.SERVICE: _OPEN_KINDS,
    NodeKind.API: _OPEN_KINDS,
    NodeKind.EXTERNAL: _OPEN_KINDS | {NodeKind.DATABASE},
    NodeKind.DATABASE: _OPEN_KINDS,
}


@dataclass(frozen=True, slots=True)
class End:
    """A documented end. `identities` match an observed node's; `mapped` is false for a name that nothing can place."""

    name: str
    kind: str
    identities: tuple[str, ...]
    mapped: bool
    ambiguous: bool = False
    # Spellings that a trace could show it under, for the search among unresolved targets.
    spellings: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    # Of a data store or broker that is documented by its product: the observed ones of that product.
    products: tuple[str, ...] = ()
    # What the fingerprint and the grouping use.
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.identities[0])

    @property
    def widened(self) -> End:
        """The end that any data store or channel of its product satisfies: "PostgreSQL" is whichever of them the source uses."""
        return replace(self, identities=(*self.identities, *self.products), products=()) if self.products else self


class Names:
    """Identities over one registry and one set of observed nodes. Cached; order of input does not matter."""

    def __init__(self, registry: Registry, edges: Iterable[ObservedEdge], services: Iterable[Node]) -> None:
        self._registry = registry
        self._observed: dict[tuple[str, str], tuple[str, ...]] = {}
        self._designed: dict[tuple[str, str, str], End] = {}
        self._ends: dict[tuple[str, str], End] = {}
        self._spellings: dict[str, set[str]] = {}
        # Family of a product -> own identities of its observed data stores and topics.
        self._products: dict[str, list[str]] = {}
        self.emitting: set[str] = set()
        aliases: dict[tuple[str, str], set[str]] = {}
        nodes: set[tuple[str, str]] = set()
        for service in dict.fromkeys(services):
            nodes.add((service.kind.value, service.name))
            self.emitting.update(self._own(service.kind.value, service.name))
        for edge in edges:
            nodes.add((edge.source.kind.value, edge.source.name))
            target = (edge.target.kind.value, edge.target.name)
            nodes.add(target)
            if edge.aliases:
                aliases.setdefault(target, set()).update(edge.aliases)
        for kind, name in sorted(nodes):
            found = list(self._own(kind, name))
            for alias in sorted(aliases.get((kind, name), ())):
                found += [i for i in self._alias(alias) if i not in found and i not in self.emitting]
            self._observed[kind, name] = tuple(found)
            if kind in (NodeKind.DATABASE, NodeKind.TOPIC):
                self._products.setdefault(family(name.split("/", 1)[0]), []).append(found[0])
            for spelling in (name, *_parts(kind, name), *sorted(aliases.get((kind, name), ()))):
                for key in keys(spelling):
                    self._spellings.setdefault(key, set()).add(found[0])

    def observed(self, node: Node) -> tuple[str, ...]:
        """Identities of an observed node, its own (or its entity's) first."""
        # A StrEnum is its value, for a look-up too.
        found = self._observed.get((node.kind, node.name))
        return found if found is not None else self._own(node.kind.value, node.name)

    def end(self, node: Node) -> End:
        """An observed node as an end."""
        known = self._ends.get((node.kind, node.name))
        if known is None:
            known = self._ends[node.kind, node.name] = End(node.name, node.kind.value, self.observed(node), mapped=True)
        return known

    def designed(self, name: str, kind: str, environment: str = "") -> End:
        """The documented end of that name."""
        known = self._designed.get((name, kind, environment))
        if known is None:
            known = self._designed[name, kind, environment] = self._place(name, kind, environment)
        return known

    def _place(self, name: str, kind: str, environment: str) -> End:
        found = self._found(name, kind, environment)
        products = [
            i
            for spelling in dict.fromkeys((name, *found.spellings))
            if is_product(spelling)
            for i in self._products.get(family(spelling), ())
            if i not in found.identities
        ]
        return replace(found, products=tuple(dict.fromkeys(products))) if products else found

    def _found(self, name: str, kind: str, environment: str) -> End:
        resolution = self._registry.resolve(name, kind, environment)
        if resolution.entity is None and not resolution.candidates and kind in _OPEN_KINDS:
            resolution = self._registry.resolve(name, "", environment)
        if resolution.entity is not None:
            return self._of_entity(resolution.entity, environment)
        found = self._among_observed(name, kind)
        if found:
            return End(
                name,
                kind,
                (f"{kind}:{_normal(name)}", *found),
                mapped=True,
                ambiguous=bool(resolution.candidates),
                spellings=(name,),
            )
        return End(
            name,
            kind,
            (f"{kind}:{_normal(name)}",),
            mapped=False,
            ambiguous=bool(resolution.candidates),
            spellings=(name,),
        )

    def _of_entity(self, entity: Entity, environment: str) -> End:
        identities = [_identity(entity)]
        for spelling in (entity.name, *entity.aliases):
            identities += [i for i in self._among_observed(spelling, entity.kind) if i not in identities]
        for member in entity.members:
            inner = self._registry.resolve(member, "", environment).entity
            identities += [
                i
                for i in ((_identity(inner),) if inner is not None else self._among_observed(member, entity.kind))
                if i not in identities
            ]
        return End(
            entity.name,
            entity.kind,
            tuple(identities),
            mapped=True,
            spellings=(entity.name, *entity.aliases),
            members=entity.members,
        )

    def _among_observed(self, name: str, kind: str) -> tuple[str, ...]:
        """Observed nodes of that spelling and a kind that the word can mean; by the strictest key that anything answers to."""
        for key in keys(name):
            found = sorted(
                i
                for i in self._spellings.get(key, ())
                if _fits(kind, i.split(":", 1)[0]) and not (kind in _OPEN_KINDS and _apart(name, i.split(":", 1)[1]))
            )
            if found:
                return tuple(found)
        return ()

    def _own(self, kind: str, name: str) -> tuple[str, ...]:
        """Identities of a node without its aliases."""
        if name in (UNNAMED, ADDRESS_CLASS):
            return (f"{kind}:{name}",)
        own = f"{kind}:{_normal(name)}"
        found: list[str] = []
        for spelling in (name, *_parts(kind, name)):
            entity = self._registry.resolve(spelling, kind).entity
            # A host or an RPC name that the registry knows as something of another kind joins that.
            if entity is None:
                other = self._registry.resolve(spelling).entity
                entity = other if other is not None and other.kind in _JOINS.get(kind, ()) else None
            if entity is not None and _identity(entity) not in found:
                found.append(_identity(entity))
        return (*found, own) if own not in found else tuple(found)

    def _alias(self, alias: str) -> tuple[str, ...]:
        entity = self._registry.resolve(alias).entity
        return (_identity(entity),) if entity is not None else ()


def _identity(entity: Entity) -> str:
    return f"{entity.kind}:{_normal(entity.name)}"


def _normal(name: str) -> str:
    return " ".join(name.split()).casefold()


def _fits(said: str, seen: str) -> bool:
    """Whether a document's kind can be what traces show. A service that is only called may look like an external host."""
    return (
        said == seen
        or (said in _OPEN_KINDS and seen in _OPEN_KINDS)
        or (said == NodeKind.DATABASE and seen == NodeKind.EXTERNAL)
    )


def _apart(said: str, seen: str) -> bool:
    """Whether both state a namespace, and not the same one."""
    one, two = said.strip().casefold(), seen
    return "/" in one and "/" in two and "://" not in one and one.split("/", 1)[0] != two.split("/", 1)[0]


def _parts(kind: str, name: str) -> tuple[str, ...]:
    """Other spellings inside a node's name: a database's host and name, a topic's destination, a host's first label."""
    pieces = name.split("/")
    if kind == NodeKind.DATABASE:
        # system/host/name, what is unknown left out.
        inner = pieces[1:]
        labels = [piece.split(".", 1)[0] for piece in inner[:1] if "." in piece]
        return tuple(dict.fromkeys(["/".join(inner), *inner[::-1], *labels])) if inner else ()
    if kind == NodeKind.TOPIC:
        return ("/".join(pieces[1:]),) if len(pieces) > 1 else ()
    if kind == NodeKind.EXTERNAL and name.endswith((".svc", ".svc.cluster.local", ".internal", ".local")):
        return (name.split(".", 1)[0],)
    return (pieces[-1],) if len(pieces) > 1 else ()


def same_topic(one: str, other: str) -> bool:
    """Whether two spellings of a channel mean the same: with or without the system in front, in any case."""
    a, b = _normal(one), _normal(other)
    return a == b or a.rsplit("/", 1)[-1] == b.rsplit("/", 1)[-1]
