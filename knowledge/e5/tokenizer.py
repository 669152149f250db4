"""The model's tokenizer: SentencePiece unigram, word by word. Pure.

No piece has the word mark inside, so the best segmentation of a text is that of its words; words repeat, and are remembered.
"""

from __future__ import annotations

from functools import lru_cache

from knowledge.e5.weights import Vocabulary

MARK = "\u2581"
_UNKNOWN_PENALTY = 10.0
# A longer word is data, not language; it is cut, which costs nothing but a rare piece at the seam.
_MAX_WORD = 200


class Tokenizer:
    """Text to piece ids, without the marks of beginning and end."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._normal = str.maketrans(vocabulary.normal)
        self._ids = {
            piece: number for number, piece in enumerate(vocabulary.pieces) if piece and number != vocabulary.unknown
        }
        self._scores: list[float] = vocabulary.scores.tolist()
        self._unknown = vocabulary.unknown
        self._unknown_score = min(self._scores) - _UNKNOWN_PENALTY
        self._longest: dict[str, int] = {}
        for piece in self._ids:
            self._longest[piece[0]] = max(self._longest.get(piece[0], 0), len(piece))
        self._word = lru_cache(maxsize=100_000)(self._segment)

    def ids(self, text: str) -> list[int]:
        """Piece ids of a text."""
        words = text.translate(self._normal).split(" ")
        out: list[int] = []
        # Runs of spaces count as one; a trailing space is a mark of its own.
        last = len(words) - 1
        for place, word in enumerate(words):
            if not word and place not in {0, last}:
                continue
            if not word and place == 0 and last > 0:
                continue
            for start in range(0, max(len(word), 1), _MAX_WORD):
                out.extend(self._word((MARK if start == 0 else "") + word[start : start + _MAX_WORD]))
        return out

    def _segment(self, word: str) -> tuple[int, ...]:
        """Viterbi over the pieces of one word."""
        size = len(word)
        best = [float("-inf")] * (size + 1)
        best[0] = 0.0
        back: list[tuple[int, int]] = [(0, 0)] * (size + 1)
        ids, scores = self._ids, self._scores
        for start in range(size):
            base = best[start]
            for end in range(start + 1, min(size, start + self._longest.get(word[start], 0)) + 1):
                number = ids.get(word[start:end])
                if number is not None and base + scores[number] > best[end]:
                    best[end] = base + scores[number]
                    back[end] = (start, number)
            if base + self._unknown_score > best[start + 1]:
                best[start + 1] = base + self._unknown_score
                back[start + 1] = (start, self._unknown)
        out: list[int] = []
        at = size
        while at > 0:
            at, number = back[at]
            out.append(number)
        return tuple(reversed(out))
