"""The shape of a detector, and checks that several share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Character offsets [start, end) of a secret in a text.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Detector:
    """A kind of secret and how to find it. `find` yields spans; it must not raise on any text."""

    kind: str
    find: Callable[[str], Iterator[Span]]


def luhn(digits: str) -> bool:
    """The check of payment cards (ISO/IEC 7812-1)."""
    total = 0
    for place, character in enumerate(reversed(digits)):
        value = int(character)
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def entropy(text: str) -> float:
    """Shannon entropy in bits a character: random base64 is near 5, words and placeholders are below 3.5."""
    from math import log2

    counts = [text.count(character) for character in set(text)]
    return -sum(n / len(text) * log2(n / len(text)) for n in counts) if text else 0.0
