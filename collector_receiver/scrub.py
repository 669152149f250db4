"""What is kept of a span's attributes: the names that edges need, and those a setting adds. The rest is dropped at the door.

A matcher finds serialized `KeyValue` messages by name without decoding them: nine in ten spans carry more attributes that
nobody asks for than such that are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

# observed-edges.md section 3 by concept, and what section 4 rules 5 to 11 need beside it.
REMOTE_SERVICE: Final = ("service.peer.name", "service.peer.namespace", "peer.service")
REMOTE_HOST: Final = (
    "server.address", "net.peer.name", "http.host", "url.full", "http.url", "network.peer.address", "net.sock.peer.name", "net.sock.peer.addr", "net.peer.ip",
)
HTTP: Final = (
    "http.response.status_code", "http.status_code", "http.request.method", "http.method", "http.route", "url.path", "http.target",
    "http.request.resend_count", "http.resend_count", "http.retry_count",
)
DATABASE: Final = (
    "db.system.name", "db.system", "db.namespace", "db.name", "db.redis.database_index", "db.operation.name", "db.operation", "db.collection.name",
    "db.sql.table",
)
MESSAGING: Final = (
    "messaging.system", "messaging.destination.template", "messaging.destination.name", "messaging.destination", "messaging.rabbitmq.destination.routing_key",
    "messaging.rabbitmq.routing_key", "messaging.destination.temporary", "messaging.destination.anonymous", "messaging.temp_destination",
    "messaging.operation.type", "messaging.operation", "messaging.operation.name", "messaging.consumer.group.name", "messaging.kafka.consumer.group",
    "messaging.batch.message_count",
)
RPC: Final = (
    "rpc.system.name", "rpc.system", "rpc.service", "rpc.method", "rpc.response.status_code", "rpc.status_code", "rpc.grpc.status_code",
)
# GraphQL servers state their protocol by these; `error.type` tells cancellations apart.
OTHER: Final = ("graphql.operation.name", "graphql.operation.type", "error.type")

KEPT: Final = frozenset((*REMOTE_SERVICE, *REMOTE_HOST, *HTTP, *DATABASE, *MESSAGING, *RPC, *OTHER))

# Resource attributes by column of the frame, newest name first.
RESOURCE_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "service_name": ("service.name",),
    "service_namespace": ("service.namespace",),
    "environment": ("deployment.environment.name", "deployment.environment"),
    "service_version": ("service.version",),
    "instance": ("service.instance.id", "k8s.pod.uid", "k8s.pod.name", "host.name"),
}
RESOURCE_KEPT: Final = frozenset(name for names in RESOURCE_NAMES.values() for name in names)

_SLOTS: Final = 1 << 12
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(52)
# A shorter key does not fill the eight bytes that are compared first; a longer one has a two-byte length in front.
_MIN_KEY, _MAX_KEY = 6, 127

Words = npt.NDArray[np.uint64]


class KeyMatcher:
    """Which of many serialized `KeyValue` messages may have one of the names.

    It compares the length of the key, its first six and its last eight bytes; what passes has to be compared exactly once it
    is decoded. Messages written in an unusual order pass too.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names: tuple[str, ...] = tuple(sorted(set(names)))
        encoded = [name.encode() for name in self.names]
        # By the first two bytes of a message: what passes without a comparison, because it is unusual or its name is.
        self._passes = np.ones(1 << 16, dtype=bool)
        for size in range(_MAX_KEY + 1):
            self._passes[size << 8 | 0x0A] = False
        heads: set[int] = set()
        tails: set[int] = set()
        for key in encoded:
            if not _MIN_KEY <= len(key) <= _MAX_KEY:
                self._passes[min(len(key), 255) << 8 | 0x0A] = True
                continue
            raw = bytes([0x0A, len(key)]) + key
            heads.add(int.from_bytes(raw[:8], "little"))
            tails.add(int.from_bytes(raw[:8], "little") ^ int.from_bytes(raw[-8:], "little") << 1 & 2**64 - 1)
        self._heads, self._tails = _Table(heads), _Table(tails)

    def matches(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """One truth value for each message `data[offsets[i]:offsets[i + 1]]`."""
        if len(data) < 8:
            return np.ones(len(offsets) - 1, dtype=bool)
        words: Words = np.ndarray(shape=(len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
        last = len(words) - 1
        starts = offsets[:-1]
        near_end = int(np.searchsorted(starts, last, side="right"))
        if near_end < len(starts):
            # Too close to the end of the data for eight bytes: these pass, and are compared exactly later.
            starts = np.minimum(starts, last)
        # A message too short for eight bytes reads its neighbour's; it may pass as well.
        head = words[starts]
        found = self._heads.has(head)
        likely = np.flatnonzero(found)
        near = head[likely]
        places = starts[likely] + near.view(np.uint8)[1::8] - 6
        tail = words[np.minimum(places, last)]
        found[likely] = self._tails.has(near ^ (tail << np.uint64(1)))
        found |= self._passes.take(head.view(np.uint16)[::4])
        found[near_end:] = True
        return found


class _Table:
    """A set of 64-bit numbers with a vectorized look-up: one hash, as many probes as the longest run needs."""

    def __init__(self, members: set[int]) -> None:
        self._slots = np.zeros(_SLOTS + 64, dtype=np.uint64)
        self._probes = 1
        for member in sorted(members):
            slot = int(_slots(np.array([member], dtype=np.uint64))[0])
            probe = 0
            while self._slots[slot + probe]:
                probe += 1
            self._slots[slot + probe] = member
            self._probes = max(self._probes, probe + 1)

    def has(self, numbers: Words) -> npt.NDArray[np.bool_]:
        """Membership of each number (zero is never a member of anything that begins with a tag)."""
        slots = _slots(numbers)
        found: npt.NDArray[np.bool_] = self._slots[slots] == numbers
        for probe in range(1, self._probes):
            found |= self._slots[slots + probe] == numbers
        return found


def _slots(numbers: Words) -> npt.NDArray[np.int64]:
    return ((numbers * _MIX) >> _SHIFT).astype(np.int64)
