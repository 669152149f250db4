"""Ports for processes that the tests start, and start again on the same."""

from __future__ import annotations

import random
import socket

# Below those that Linux gives to connections and to whoever asks for any: a port from there may be taken by the time that it is listened on.
RANGE = range(10_240, 32_768)
_given: set[int] = set()
# Not the shared generator, which hypothesis and tests seed: two processes would choose alike.
_chance = random.SystemRandom()


def free_port() -> int:
    """A port of this machine that is free, and that no other test of this process is given."""
    while True:
        port = _chance.choice(RANGE)
        if port in _given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port


def free_address() -> str:
    """One of this machine's own, HOST:PORT."""
    return f"127.0.0.1:{free_port()}"
