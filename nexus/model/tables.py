"""Look-ups of 64-bit numbers by the million, compiled: small codes of what repeats, places by number, a stable order.

Tables are open-addressed, with linear steps, at most half full: a slot is (number, value + 1), zero = free. Numbers may be chosen by whoever sends spans; a secret
of the process decides where they lie, so that nobody can make them all meet. What comes out does not depend on it.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nexus.model.compiled import compiled, inlined

U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
_U: Final = np.uint64
_0, _1, _33, _63 = _U(0), _U(1), _U(33), _U(63)
_ODD_1, _ODD_2 = _U(0xFF51AFD7ED558CCD), _U(0xC4CEB9FE1A85EC53)
_SECRET: Final = _U(secrets.randbits(64))
_FEWEST: Final = 1 << 12
# Longest run of equal upper bits that is put in order one by one.
_RUN: Final = 64
# The first step of Shell's sort is this part of a group; those that are smaller are put in order by insertion alone.
_SHELL: Final = 16


@inlined
def _spread(number: Any, secret: Any) -> Any:
    """MurmurHash3's finaliser."""
    number ^= secret
    number = (number ^ (number >> _33)) * _ODD_1
    number = (number ^ (number >> _33)) * _ODD_2
    return number ^ (number >> _33)


@inlined
def _find(number: Any, secret: Any, slots: Any) -> Any:
    """The slot of a number, or the free one where it would go."""
    mask = _U(len(slots) - 1)
    at = _spread(number, secret) & mask
    while slots[at, 1] != _0 and slots[at, 0] != number:
        at = (at + _1) & mask
    return at


@inlined
def _bits(spread: Any) -> Any:
    """Four bits of a word, by the upper half of a number."""
    word = _0
    for part in range(4):
        word |= _1 << ((spread >> _U(32 + 6 * part)) & _63)
    return word


@compiled
def _mark(numbers: U64, secret: Any, words: U64) -> None:
    mask = _U(len(words) - 1)
    for row in range(len(numbers)):
        spread = _spread(numbers[row], secret)
        words[spread & mask] |= _bits(spread)


@compiled
def _marked(numbers: U64, secret: Any, words: U64, found: Any) -> None:
    mask = _U(len(words) - 1)
    for row in range(len(numbers)):
        spread = _spread(numbers[row], secret)
        bits = _bits(spread)
        found[row] = words[spread & mask] & bits == bits


@compiled
def _code(numbers: U64, start: int, secret: Any, slots: U64, codes: U32, first: U32, count: int) -> tuple[int, int]:
    """Codes of `numbers` from `start` on, `count` of which are known. Gives the row where the table is full, and the count then."""
    room = len(slots) // 2
    for row in range(start, len(numbers)):
        at = _find(numbers[row], secret, slots)
        if slots[at, 1] == _0:
            if count >= room:
                return row, count
            slots[at, 0], slots[at, 1], first[count] = numbers[row], _U(count + 1), row
            count += 1
        codes[row] = np.uint32(slots[at, 1] - _1)
    return len(numbers), count


@compiled
def _put(numbers: U64, secret: Any, slots: U64) -> None:
    """Each number with its place as value; of equal ones the last stays."""
    for row in range(len(numbers)):
        at = _find(numbers[row], secret, slots)
        slots[at, 0], slots[at, 1] = numbers[row], _U(row + 1)


@compiled
def _get(numbers: U64, secret: Any, slots: U64, found: npt.NDArray[np.int64]) -> None:
    """The value of each number, -1 where it is not there."""
    for row in range(len(numbers)):
        found[row] = np.int64(slots[_find(numbers[row], secret, slots), 1]) - 1


@compiled
def _settle_runs(numbers: U64, shift: Any, order: U32, longest: int) -> bool:
    """Put runs of equal upper bits in order (insertion; equal numbers keep theirs); False where one is longer than `longest` and not in order."""
    begin = 0
    for row in range(1, len(order)):
        number = numbers[order[row]]
        if number >> shift != numbers[order[row - 1]] >> shift:
            begin = row
        elif number < numbers[order[row - 1]]:
            if row - begin > longest:
                return False
            moved, at = order[row], row
            while at > begin and numbers[order[at - 1]] > number:
                order[at] = order[at - 1]
                at -= 1
            order[at] = moved
    return True


@compiled
def _settle_groups(groups: U64, numbers: U64, order: U32) -> None:
    """Put the rows of each group, which lie side by side in `order`, in the order of their numbers, equal ones as they come (Shell's sort)."""
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and groups[order[end]] == groups[order[begin]]:
            end += 1
        gap = max((end - begin) // _SHELL, 1)
        while gap > 0:
            for row in range(begin + gap, end):
                moved, at = order[row], row
                while at - gap >= begin:
                    other = order[at - gap]
                    if numbers[other] < numbers[moved] or (numbers[other] == numbers[moved] and other < moved):
                        break
                    order[at] = other
                    at -= gap
                order[at] = moved
            gap = 0 if gap == 1 else max(gap * 4 // 9, 1)
        begin = end


def _slots(size: int) -> U64:
    return np.zeros((1 << max(size - 1, 1).bit_length(), 2), dtype=np.uint64)


def encoded(numbers: npt.NDArray[Any]) -> tuple[U32, U32]:
    """Small code of each whole number, and where each code comes first; codes count from 0 in that order."""
    numbers = np.ascontiguousarray(numbers).astype(np.uint64, copy=False)
    codes, first = np.empty(len(numbers), dtype=np.uint32), np.empty(len(numbers), dtype=np.uint32)
    slots = _slots(max(_FEWEST, len(numbers) // 32))
    row, count = _code(numbers, 0, _SECRET, slots, codes, first, 0)
    if row < len(numbers):
        # What repeats fits into a small table, which is fast; this does not.
        slots = _slots(2 * (count + len(numbers) - row))
        _put(numbers[first[:count]], _SECRET, slots)
        _, count = _code(numbers, row, _SECRET, slots, codes, first, count)
    return codes, first[:count].copy()


def places(keys: U64, wanted: U64) -> npt.NDArray[np.int64]:
    """Where each of the `wanted` is among distinct `keys`, -1 where it is not."""
    slots = _slots(2 * len(keys))
    _put(keys, _SECRET, slots)
    found = np.empty(len(wanted), dtype=np.int64)
    _get(wanted, _SECRET, slots, found)
    return found


class Sieve:
    """Which numbers are surely not among some: a Bloom filter of two to four bytes a number, all of whose bits lie in one word."""

    def __init__(self, numbers: U64) -> None:
        self._words = np.zeros(1 << max(len(numbers) // 4, 1).bit_length(), dtype=np.uint64)
        _mark(numbers, _SECRET, self._words)

    def may_hold(self, numbers: U64) -> npt.NDArray[np.bool_]:
        """False where a number is none of them; true where it is, and for about one in a hundred others."""
        found = np.empty(len(numbers), dtype=bool)
        _marked(numbers, _SECRET, self._words, found)
        return found


def stable_order(keys: U64) -> U32:
    """Places of `keys` in ascending order, equal ones as they come. Fast where the upper bits differ, as those of hashes do, or where they are in order."""
    if (keys[1:] >= keys[:-1]).all():
        return np.arange(len(keys), dtype=np.uint32)
    bits = max(len(keys) - 1, 1).bit_length()
    low = np.uint64((1 << bits) - 1)
    packed = (keys & ~low) | np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    order = (packed & low).astype(np.uint32)
    return (
        order if _settle_runs(keys, np.uint64(bits), order, _RUN) else np.argsort(keys, kind="stable").astype(np.uint32)
    )


def grouped_order(groups: U64, numbers: U64) -> U32:
    """Places in ascending order of `groups`, those of a group in ascending order of their `numbers`, equal ones as they come."""
    order = stable_order(groups)
    _settle_groups(groups, numbers, order)
    return order
