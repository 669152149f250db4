"""Which names of attributes are looked for, as numbers that compiled code can search."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from collector_receiver.machine_words import Place, word
from collector_receiver.scan_layout import PAD, Bytes, Names
from nexus.model.compiled import inlined

_U: Final = np.uint64
_1, _8 = _U(1), _U(8)
_SLOTS: Final = 1024


@lru_cache(maxsize=16)
def table(names: frozenset[str]) -> Names:
    """Names to look for."""
    encoded = sorted({name.encode() for name in names} - {b""})
    ends = np.cumsum([PAD, *map(len, encoded)], dtype=np.uint64)
    text = np.frombuffer(b"".join((bytes(PAD), *encoded)), np.uint8)
    first, following = np.full(_SLOTS, -1, np.int16), np.full(len(encoded) + 1, -1, np.int16)
    for number in range(len(encoded)):
        slot = int(_hash(text, ends[number], ends[number + 1]))
        following[number], first[slot] = first[slot], number
    return Names(first, following, ends, text, 4 + min(map(len, encoded), default=0))


@inlined
def _hash(data: Bytes, start: Place, end: Place) -> Place:
    size = end - start
    return (size * _U(37) + _U(data[end - _1]) * _U(5) + _U(data[start + (size >> _1)]) * _U(101)) & _U(_SLOTS - 1)


@inlined
def same(data: Bytes, at: Place, other: Bytes, there: Place, size: Place) -> bool:
    """Whether two pieces of `size` bytes, at least one, are equal. Together with what is before them they must be eight bytes: those at the end are compared first."""
    few = min(size, _8)
    if (word(data, at + size - _8) ^ word(other, there + size - _8)) >> (_8 * (_8 - few)):
        return False
    end = at + size - few
    while at < end and word(data, at) == word(other, there):
        at += _8
        there += _8
    return bool(at >= end)


@inlined
def is_named(data: Bytes, start: Place, end: Place, names: Names) -> bool:
    """Whether `data[start:end]` is one of the names. There are eight bytes before it: those of the messages that it is in."""
    if start == end:
        return False
    number = names.first[_hash(data, start, end)]
    while number >= 0:
        at, after = names.ends[_U(number)], names.ends[_U(number) + _1]
        if after - at == end - start and same(data, start, names.text, at, after - at):
            return True
        number = names.following[_U(number)]
    return False
