"""Who may send, and for which tenant: bearer tokens, looked up rarely and remembered for a while."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from nexus.errors import DependencyError, Forbidden, StoreUnavailable, Unauthenticated
from nexus.model.principal import Capability, Principal

# How long a token is taken without asking again: a revoked one works at most this long.
FRESH_S: Final = 5.0
# How long a known token is taken while the database does not answer: senders that were let in go on through an outage.
STALE_S: Final = 3600.0
MAX_REMEMBERED: Final = 10_000
# Look-ups at a time: a flood of made-up tokens must not take the database's connections from everybody else.
MAX_LOOKUPS: Final = 4

DEFAULT_TENANT: Final = "default"


class Gate:
    """Maps an `Authorization` value to a tenant. `find` None = everybody may send, as the default tenant."""

    def __init__(
        self, find: Callable[[str], Principal | None] | None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._find, self._now = find, now
        # By hash, so that no token lies in memory longer than its request.
        self._known: OrderedDict[bytes, tuple[float, Principal]] = OrderedDict()
        self._lock = threading.Lock()
        self._lookups = threading.BoundedSemaphore(MAX_LOOKUPS)

    def remembered(self, authorization: str | None) -> str | None:
        """The tenant, where it is known without a look-up (never blocks). Raises as `tenant` does for what is no bearer token."""
        if self._find is None:
            return DEFAULT_TENANT
        with self._lock:
            found = self._known.get(_key(_token(authorization)))
        if found is None or self._now() - found[0] > FRESH_S:
            return None
        return _may_ingest(found[1])

    def tenant(self, authorization: str | None) -> str:
        """The tenant of a token. Blocks for the look-up.

        Raises Unauthenticated without a valid token, Forbidden for one that may not ingest, StoreUnavailable where nobody can tell now.
        """
        if self._find is None:
            return DEFAULT_TENANT
        token = _token(authorization)
        key = _key(token)
        if not self._lookups.acquire(timeout=1.0):
            raise StoreUnavailable("tokens cannot be checked as fast as they come; send again")
        try:
            principal = self._find(token)
        except DependencyError:
            with self._lock:
                found = self._known.get(key)
            if found is None or self._now() - found[0] > STALE_S:
                raise
            return _may_ingest(found[1])
        finally:
            self._lookups.release()
        with self._lock:
            self._known.pop(key, None)
            if principal is not None:
                self._known[key] = (self._now(), principal)
                if len(self._known) > MAX_REMEMBERED:
                    self._known.popitem(last=False)
        if principal is None:
            raise Unauthenticated("no such token, or it was revoked")
        return _may_ingest(principal)


def _key(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _token(authorization: str | None) -> str:
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated(
            "send `Authorization: Bearer TOKEN` (make a token with `nexus auth create --capability ingest`)"
        )
    return token.strip()


def _may_ingest(principal: Principal) -> str:
    if Capability.INGEST not in principal.capabilities:
        msg = f"the token of {principal.name} has no capability to ingest"
        raise Forbidden(msg)
    return principal.tenant
