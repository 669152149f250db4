"""The compiled walk over OTLP/JSON (`scan_json.py`), once it is compiled."""

from __future__ import annotations

import threading

import numpy as np

from collector_receiver.name_table import table
from collector_receiver.scan_json import ABOVE, convert
from collector_receiver.scan_layout import PAD, Names

_asked, _compiled = threading.Lock(), threading.Event()


def converted(body: bytes, names: Names, resource_names: Names) -> bytes | None:
    """The request as protobuf; None where it is unusual or has no span, and as long as this is not compiled, which takes some seconds once a machine.

    Few deployments ever get JSON, so it is the first request that has it compiled, and nobody waits for it.
    """
    if not _compiled.is_set():
        if _asked.acquire(blocking=False):
            threading.Thread(target=compile_now, name="compile-json", daemon=True).start()
        return None
    return _converted(body, names, resource_names)


def compile_now() -> None:
    """Compile the walk, or take it from where it is kept."""
    some = table(frozenset({"name"}))
    _converted(b"{}", some, some)
    _compiled.set()


def _converted(body: bytes, names: Names, resource_names: Names) -> bytes | None:
    data = np.frombuffer(body + bytes(PAD), np.uint8)
    out = np.empty(2 * len(data) + 64, np.uint8)
    size = convert(data, np.uint64(len(body)), names, resource_names, np.empty(ABOVE, np.uint64), out)
    return out[:size].tobytes() if size else None
