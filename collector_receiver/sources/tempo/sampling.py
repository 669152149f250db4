"""A budget of traces a window, kept by a reproducible rule. Pure.

A trace is kept where the first 64 bits of BLAKE2b over its id, as a fraction, are below the window's probability. The probability is the largest
power of one half that brings the window's traces within the budget. The rule depends on nothing but the id, so two pollers,
two runs and two windows that see the same trace agree; the probability is stored with the window and with each span.
"""

from __future__ import annotations

import hashlib

_FULL = 1 << 64


def probability(traces: int, budget: int) -> float:
    """Share of `traces` to keep; 1.0 where the budget (0 = none) allows all."""
    kept = 1.0
    while budget > 0 and traces * kept > budget:
        kept /= 2
    return kept


def is_kept(trace_id: bytes, share: float) -> bool:
    """Whether a trace belongs to the sample."""
    return share >= 1.0 or int.from_bytes(hashlib.blake2b(trace_id, digest_size=8).digest()) < share * _FULL
