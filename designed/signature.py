"""Which documents may spell a name, without their texts: a Bloom filter over each document's words. Pure.

A name stands in a text as its words, one right after the other (`nexus.model.mentions`). A filter holds a text's words and pairs of words,
and the first letter of Hangul words, for spaces inside them are optional. It may say yes where the name is not there
(about one time in twenty), never no where it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from nexus.model.mentions import CAMEL, HANGUL
from nexus.model.names import WORD

# Bits a feature: with one hash, 1 in 20 of the features that are not there answers yes.
BITS = 20
LARGEST = 1 << 20


def signature(text: str) -> bytes:
    """The filter of a text; its length is a power of two."""
    words = [word.casefold() for word in WORD.findall(text)]
    features = {*words, *(word.casefold() for word in CAMEL.findall(text))}
    features.update(map("\0".join, pairwise(words)))
    features.update(_start(word) for word in set(words) if HANGUL.match(word))
    size = 64
    while size * 8 < len(features) * BITS and size < LARGEST:
        size *= 2
    bits = np.zeros(size * 8, np.uint8)
    crc = zlib.crc32
    hashes = [crc(feature.encode("utf-8", "surrogatepass")) for feature in features]
    bits[np.array(hashes, np.uint32) & np.uint32(size * 8 - 1)] = 1
    return np.packbits(bits, bitorder="little").tobytes()


def features(spelling: str) -> list[tuple[int, ...]]:
    """What a text's filter must hold for the text to spell a name, one alternative a tuple: hashes, to be cut to the filter's size."""
    words = [word.casefold() for word in WORD.findall(spelling)]
    if not words:
        return []
    hangul = [HANGUL.match(word) is not None for word in words]
    wanted = {word for word, korean in zip(words, hangul, strict=True) if not korean}
    wanted |= {
        f"{a}\0{b}" for (a, b), (ka, kb) in zip(pairwise(words), pairwise(hangul), strict=True) if not ka and not kb
    }
    if hangul[0]:
        wanted.add(_start(words[0]))
    # Written together (`cartservice`) a name is one word.
    alternatives = [wanted] if any(hangul) or len(words) == 1 else [wanted, {"".join(words)}]
    return [
        tuple(zlib.crc32(feature.encode("utf-8", "surrogatepass")) for feature in sorted(found))
        for found in alternatives
    ]


def may_spell(found: bytes, names: Iterable[tuple[int, ...]]) -> bool:
    """Whether a text with this filter may spell one of the names, given by their `features`. A text without a filter may spell any."""
    if not found:
        return True
    mask = len(found) * 8 - 1
    return any(all(found[(bit := feature & mask) >> 3] & (1 << (bit & 7)) for feature in name) for name in names)


def _start(word: str) -> str:
    """The first letter: what is sure of a Hangul word, whose letters spaces may part and particles may follow."""
    return f"\1{word[0]}"
