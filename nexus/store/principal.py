"""Tokens, stored as hashes."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.store.pool import Connection
from nexus.store.queries import queries

TOKEN_PREFIX = "nxs_"  # noqa: S105  # a prefix, so that secret scanners find leaked tokens
_SQL = queries("principal")


@dataclass(frozen=True, slots=True)
class PrincipalRow:
    """A token's row, without the token."""

    name: str
    tenant: str
    clearance: str
    capabilities: list[str]
    namespaces: list[str]
    created_at: datetime
    revoked_at: datetime | None


def token_hash(token: str) -> str:
    """SHA-256, hex. Tokens have 256 bits of entropy, so a slow hash would add nothing."""
    return hashlib.sha256(token.encode()).hexdigest()


def create_principal(connection: Connection, principal: Principal) -> str:
    """Store a new principal; returns the token, which cannot be had again."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    connection.execute(
        _SQL["add_principal"],
        {
            "name": principal.name,
            "tenant": principal.tenant,
            "token_hash": token_hash(token),
            "clearance": principal.clearance.value,
            "capabilities": sorted(principal.capabilities),
            "namespaces": list(principal.namespaces),
        },
    )
    return token


def find_principal(connection: Connection, token: str) -> Principal | None:
    """The principal of a token; None where the token is unknown or revoked."""
    row = connection.execute(_SQL["find_principal"], {"token_hash": token_hash(token)}).fetchone()
    if row is None:
        return None
    name, tenant, clearance, capabilities, namespaces = row
    return Principal(
        name, tenant, Classification(clearance), frozenset(map(Capability, capabilities)), tuple(namespaces)
    )


def list_principals(connection: Connection) -> list[PrincipalRow]:
    """Every principal, revoked ones too."""
    with connection.cursor(row_factory=class_row(PrincipalRow)) as cursor:
        return cursor.execute(_SQL["list_principals"]).fetchall()


def revoke_principal(connection: Connection, name: str, tenant: str) -> int:
    """Revoke every token of a name; returns how many."""
    return connection.execute(_SQL["revoke_principal"], {"name": name, "tenant": tenant}).rowcount
