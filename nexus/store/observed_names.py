"""Names that traces carry, without their counts: cheap enough to look at every few seconds."""

from __future__ import annotations

from nexus.model.service import NodeKind
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_names")


def named_nodes(connection: Connection, tenant: str) -> list[tuple[str, NodeKind, str]]:
    """(name, kind, environment) of every service and every end of an edge that has rows, sorted. One probe of an index an edge."""
    return [(name, NodeKind(kind), environment) for name, kind, environment in connection.execute(_SQL["named_nodes"], {"tenant": tenant})]


def named_aliases(connection: Connection, tenant: str) -> list[tuple[str, NodeKind, str]]:
    """(name, kind, other name) of targets that callers also know by a host, an RPC service or a database's name, sorted."""
    return [(name, NodeKind(kind), alias) for name, kind, alias in connection.execute(_SQL["named_aliases"], {"tenant": tenant})]
