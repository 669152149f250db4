"""Identity of a finding over time: no counts, dates or line numbers in it."""

from __future__ import annotations

import hashlib

from diff.families import UNKNOWN, family
from nexus.model.claim import Via
from nexus.model.finding import Flag


def kind_of(flag: Flag, status: str) -> str:
    """What the fingerprint takes for the kind: a conflict's own, else the flag, so that growing evidence stays one finding."""
    return status if flag is Flag.CONFLICT else flag.value


def fingerprint(kind: str, relation: str, source: str, target: str, via: Via, environment: str) -> str:
    """32 hex digits over (kind, type, source, target, via, environment). Ends are identities ("kind:name")."""
    protocol = family(via.protocol)
    parts = (kind, relation, source, target, "" if protocol == UNKNOWN else protocol, via.operation, via.channel, environment)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
