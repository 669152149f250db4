"""The probability with which a span was kept, from `tracestate` (OpenTelemetry's consistent probability sampling). Pure."""

from __future__ import annotations

import polars as pl

_SPACE = 1 << 56


def probability(trace_state: pl.Expr, source: pl.Expr) -> pl.Expr:
    """1 - T/2^56 of the member `ot`, field `th` (up to 14 lower-case hex digits, padded on the right); null where absent or malformed.

    Where a poller kept only a part of the traces (`source`, 0 to 1), both have to let a span through.
    """
    member = trace_state.str.extract(r"(?:^|,)\s*ot=([^,]*)", 1).str.strip_chars_end()
    digits = member.str.extract(r"(?:^|;)th:([^;]*)(?:;|$)", 1)
    valid = digits.str.contains(r"^[0-9a-f]{1,14}$")
    threshold = pl.when(valid).then(digits.str.pad_end(14, "0")).str.to_integer(base=16, dtype=pl.Int64, strict=False)
    # In integers as far as possible: 2^56 - 1 is no 64-bit float.
    return (_SPACE - threshold).cast(pl.Float64) / float(_SPACE) * source.fill_null(1.0)
