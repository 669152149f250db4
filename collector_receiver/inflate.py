"""Gzip with a limit on what comes out."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

from nexus.errors import MalformedSpans, TooLarge

# Inflated in pieces of this size, so that a bomb is noticed after one piece too many.
PIECE: Final = 1 << 20
_GZIP: Final = 16 + zlib.MAX_WBITS


def gunzip(data: bytes, limit: int, reserve: Callable[[int], None]) -> bytes:
    """Inflate gzip data of one or more members.

    `reserve(bytes)` is called before each piece that more memory is needed for, and may raise Overloaded. TooLarge above `limit`, MalformedSpans
    for what is no gzip or is cut off.
    """
    pieces: list[bytes] = []
    total = 0
    rest = data
    while True:
        inflater = zlib.decompressobj(_GZIP)
        while not inflater.eof:
            reserve(min(PIECE, limit + 1 - total))
            try:
                piece = inflater.decompress(rest, min(PIECE, limit + 1 - total))
            except zlib.error as error:
                msg = f"the body is no gzip: {error}"
                raise MalformedSpans(msg) from error
            rest = inflater.unconsumed_tail
            if not piece and not rest and not inflater.eof:
                raise MalformedSpans("the gzip body is cut off")
            total += len(piece)
            if total > limit:
                msg = f"the request is larger than {limit} bytes when inflated"
                raise TooLarge(msg)
            pieces.append(piece)
        # Zero padding after the last member is allowed by RFC 1952 readers.
        rest = inflater.unused_data.lstrip(b"\0")
        if not rest:
            return b"".join(pieces)
