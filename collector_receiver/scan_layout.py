"""What a scan of a request finds, and what it looks for, as arrays: shared by the compiled walk (`scan.py`) and what is made of it (`coding.py`).

Places and sizes are in bytes of the scanned data.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
# Bytes beside a buffer of our own: eight are read or written at a time, and those that are too many are not looked at.
PAD: Final = 8

# A usable span: texts by place and size in the data; `sent` counts its attributes, `attributes` and `links` what was kept of this span and all before it.
SPAN: Final = np.dtype(
    [
        ("start", "u8"),
        ("end", "u8"),
        ("block", "u4"),
        ("kind", "i4"),
        ("code", "i4"),
        ("flags", "u4"),
        ("sent", "u4"),
        ("attributes", "u4"),
        ("links", "u4"),
        ("trace_id", "u4"),
        ("span_id", "u4"),
        ("parent_id", "u4"),
        ("parent_id_size", "u4"),
        ("name", "u4"),
        ("name_size", "u4"),
        ("trace_state", "u4"),
        ("trace_state_size", "u4"),
        ("message", "u4"),
        ("message_size", "u4"),
    ]
)
# A ResourceSpans: resource attributes kept of it and all before it, spans refused by reason.
BLOCK: Final = np.dtype([("attributes", "u4"), ("trace_id", "u4"), ("span_id", "u4"), ("start_time", "u4")])
PIECE: Final = np.dtype([("place", "u4"), ("size", "u4")])
LINK: Final = np.dtype([("trace_id", "u4"), ("span_id", "u4")])


class Names(NamedTuple):
    """Names for a look-up in bytes. Name n is from byte `ends[n]` to `ends[n + 1]` of `text`; `first` of its hash and then `following` chain the numbers, -1 ends."""

    first: npt.NDArray[np.int16]
    following: npt.NDArray[np.int16]
    ends: npt.NDArray[np.uint64]
    text: Bytes
    # Fewest bytes, with tags and lengths, of an attribute with one of the names.
    least_bytes: int
