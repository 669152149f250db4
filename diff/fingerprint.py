"""Identity of a finding over time: no counts, dates or line numbers in it."""

from __future__ import annotations

import hashlib

from diff.families import family
from nexus.model.claim import Via


def fingerprint(kind: str, relation: str, source: str, target: str, via: Via, environment: str) -> str:
    """32 hex digits over (kind, type, source, target, via, environment). Ends are identities ("kind:name")."""
    protocol = family(via.protocol) if via.protocol else ""
    parts = (kind, relation, source, target, protocol, via.operation, via.channel, environment)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
