"""Names that traces carry, without their counts: cheap enough to look at every few seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nexus.model.service import NodeKind
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_names")
# (name, kind, environment) of a node; (name, kind, other name) of what it is also called.
NamedNode = tuple[str, NodeKind, str]
Alias = tuple[str, NodeKind, str]
# Between the host and the RPC service of one call.
_SEPARATOR: Final = "\x1f"


@dataclass(frozen=True, slots=True)
class Named:
    """What a tenant's traces name, each sorted.

    `nodes`: every service and every end of an edge that has rows. `aliases`: what callers say besides of a target whose own spans they do not see, or of
    a database. `answered`: by which host or RPC service a call reached the service that answered it; names of services that speak for themselves are none.
    """

    nodes: tuple[NamedNode, ...] = ()
    aliases: tuple[Alias, ...] = ()
    answered: tuple[Alias, ...] = ()


def named(connection: Connection, tenant: str) -> Named:
    """The names of a tenant. A few probes of an index an edge."""
    speakers = {source for (source,) in connection.execute(_SQL["named_speakers"], {"tenant": tenant})}
    answered = {
        (name, kind, alias)
        for name, kind, item in _in_bags(connection, tenant, "reached")
        for alias in item.split(_SEPARATOR)
        if alias and alias not in speakers
    }
    return Named(
        tuple(named_nodes(connection, tenant)),
        tuple(sorted(set(_in_bags(connection, tenant, "alias")))),
        tuple(sorted(answered)),
    )


def named_nodes(connection: Connection, tenant: str) -> list[NamedNode]:
    """`Named.nodes`."""
    return [
        (name, NodeKind(kind), environment)
        for name, kind, environment in connection.execute(_SQL["named_nodes"], {"tenant": tenant})
    ]


def _in_bags(connection: Connection, tenant: str, kind: str) -> Iterator[Alias]:
    """(target, kind, item) of every item of one kind of bag. Items are texts that senders wrote: read here, where no spelling of theirs is an error."""
    for target, target_kind, items in connection.execute(_SQL["named_in_bags"], {"tenant": tenant, "kind": kind}):
        for item in json.loads(items):
            yield target, NodeKind(target_kind), item
