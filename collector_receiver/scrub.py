"""What is kept of a span's attributes: the names that edges need, and those a setting adds. The rest is dropped at the door.

A matcher finds serialized `KeyValue` messages by name without decoding them: nine in ten spans carry more attributes that
nobody asks for than such that are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

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
# A key this long has a one-byte length in front, so that its bytes stand at a fixed place.
_MAX_KEY: Final = 127


class KeyMatcher:
    """Which of many serialized `KeyValue` messages may have one of the names.

    It compares the length of the key, its first six and its last eight bytes; what passes has to be compared exactly once it
    is decoded. Messages written in an unusual order pass too.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names: tuple[str, ...] = tuple(sorted(set(names)))
        encoded = [name.encode() for name in self.names]
        self._fixed = [key for key in encoded if 6 <= len(key) <= _MAX_KEY]
        # Names too short or too long for the comparison: every message of such a length passes.
        self._lengths = np.zeros(256, dtype=bool)
        for key in encoded:
            if not 6 <= len(key) <= _MAX_KEY:
                self._lengths[min(len(key), 255)] = True
        self._least = 2 + min((len(key) for key in encoded), default=1)

    @cached_property
    def _table(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Open table of (head, tail), filled by a hash; names that collide go to the next slot, which `matches` also reads."""
        heads = np.zeros(_SLOTS + 8, dtype=np.uint64)
        tails = np.zeros(_SLOTS + 8, dtype=np.uint64)
        for key in self._fixed:
            raw = bytes([0x0A, len(key)]) + key
            head = np.frombuffer(raw[:8], dtype="<u8")
            tail = np.frombuffer(raw[-8:], dtype="<u8")
            slot = int(_slots(head, tail)[0])
            while heads[slot]:
                slot += 1
            heads[slot], tails[slot] = head[0], tail[0]
        return heads, tails

    @cached_property
    def _probes(self) -> int:
        """How many slots a look-up has to read."""
        heads, _ = self._table
        longest = run = 0
        for used in heads != 0:
            run = run + 1 if used else 0
            longest = max(longest, run)
        return max(longest, 1)

    def matches(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """One truth value for each message `data[offsets[i]:offsets[i + 1]]`."""
        starts, lengths = offsets[:-1], np.diff(offsets)
        out = np.zeros(len(starts), dtype=bool)
        long_enough = np.flatnonzero(lengths >= max(self._least, 2))
        if not len(long_enough):
            return out
        starts, lengths = starts[long_enough], lengths[long_enough]
        tag, size = data[starts], data[starts + 1]
        usual = (tag == 0x0A) & (size <= _MAX_KEY)
        found = ~usual | self._lengths[size]
        compared = np.flatnonzero(usual & (size >= 6) & (lengths >= size.astype(np.int32) + 2))
        words: npt.NDArray[Any] = np.ndarray(shape=(max(len(data) - 7, 0),), dtype="<u8", buffer=data, strides=(1,))
        first = starts[compared]
        head, tail = words[first], words[first + size[compared] - 6]
        slots = _slots(head, tail)
        heads, tails = self._table
        hit = np.zeros(len(compared), dtype=bool)
        for probe in range(self._probes):
            hit |= (heads[slots + probe] == head) & (tails[slots + probe] == tail)
        found[compared] |= hit
        out[long_enough] = found
        return out


def _slots(head: npt.NDArray[np.uint64], tail: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
    return (((head ^ (tail << np.uint64(1))) * _MIX) >> _SHIFT).astype(np.intp)
