"""Text to BM25 terms: Korean morphemes, identifiers whole and in parts, stemmed English words. The same for passages and questions.

mecab sees the unchanged text, and only Hangul is taken from it; everything else is taken from the original by pattern.
Replacing identifiers before mecab would change how it segments what stands around them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from knowledge.loanwords import hangul_skeleton, latin_skeleton

# Bumped when the analysis changes: what was indexed before is then indexed anew.
ANALYSIS = "a2"
HEADING_WEIGHT = 2
# What can stand in no text: marks terms that are sounds.
_LATIN, _KOREAN = "\x01e", "\x01k"
# Letters of an English word and syllables of a Korean one between which a likeness of sound means something.
_SOUNDED, _LONGEST_SOUNDED = 4, 10
_PARTICLE = re.compile(r"(?<=..)(?:으로|에서|에게|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도|만)$")

_CONTENT = frozenset({"NNG", "NNP", "NR", "XR", "VV", "VA", "SH"})
_IDENTIFIER = re.compile(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*", re.ASCII)
_SEPARATORS = re.compile(r"[._-]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_HANGUL_RUN = re.compile(r"[가-힣]+")
# Words of Latin letters of which one has an accent; they are words, not identifiers.
_ACCENTED = re.compile(r"[A-Za-z]*[À-ÖØ-öø-ɏ][A-Za-zÀ-ÖØ-öø-ɏ]*")
# Runs of letters that are neither ASCII nor Hangul: other scripts.
_OTHER = re.compile(r"[^\W\d_A-Za-z가-힣ㄱ-ㅎㅏ-ㅣ]+")
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]")
_STOP_WORDS = """
a about above after all also an and any are as at be because been before being between both but by can could did do does doing down during each few
for from further had has have having he her here hers him his how i if in into is it its itself just me more most my no nor not of off on once only or
other our out over own same she should so some such than that the their them then there these they this those through to too under until up very was
we were what when where which while who whom why will with would you your
"""
_STOP = frozenset(_STOP_WORDS.split())
_MAX_TERM = 64
_MAX_IDENTIFIER = 256
# Without a space for so long mecab takes time with the square of the length.
_ENDLESS = re.compile(r"[가-힣]{200}")

Morphemes = Callable[[str], Iterable[tuple[int, int, str, str]]]


def mecab_morphemes() -> Morphemes:
    """(start, end, surface, feature) of each morpheme by mecab-ko. Thread-safe: the tagger is constant, the lattice is made per call."""
    import _mecab  # type: ignore[import-not-found]  # the wheel's extension module
    from mecab import MeCab

    tagger = MeCab()._tagger  # noqa: SLF001  # the public way makes three objects a morpheme: half the time of an ingest

    def parse(text: str) -> list[tuple[int, int, str, str]]:
        lattice = _mecab.Lattice()
        lattice.add_request_type(_mecab.MECAB_ALLOCATE_SENTENCE)
        lattice.set_sentence(text)
        tagger.parse(lattice)
        return [(start, end, text[start:end], node.feature) for (start, end), node in lattice]

    return parse


@lru_cache(maxsize=100_000)
def _content(surface: str, feature: str) -> tuple[str, ...]:
    """The terms of a morpheme: compounds whole and in parts, stems of inflected forms, nothing of particles and endings."""
    fields = feature.split(",")
    kind, expression = (fields[4], fields[7]) if len(fields) >= 8 else ("*", "*")
    if kind == "Inflect" or "+" in fields[0]:
        parts = [part.split("/") for part in expression.split("+")]
        return tuple(part[0] for part in parts if len(part) >= 2 and part[1] in _CONTENT and _HANGUL_RUN.match(part[0]))
    if fields[0] not in _CONTENT or not _HANGUL_RUN.search(surface):
        return ()
    if kind == "Compound":
        return (surface, *(part.split("/")[0] for part in expression.split("+")))
    return (surface,)


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def _parts(token: str) -> list[str]:
    pieces = [piece for piece in _SEPARATORS.split(token) if piece]
    return [part for piece in pieces for part in (_CAMEL.findall(piece) if not piece.islower() and not piece.isupper() else [piece])]


@lru_cache(maxsize=200_000)
def _identifier(token: str) -> tuple[str, ...]:
    """An ASCII token: the parts of camelCase, kebab, snake and dots stemmed, and the whole where it has parts."""
    parts = _parts(token)
    if len(parts) == 1:
        word = parts[0].lower()
        return () if word in _STOP else (_stem(word)[:_MAX_TERM],)
    return (token.lower()[:_MAX_TERM], *(_stem(part.lower())[:_MAX_TERM] for part in parts if part.lower() not in _STOP))


@lru_cache(maxsize=200_000)
def _latin_sounds(token: str) -> tuple[str, ...]:
    """The skeletons of an ASCII token's words, in the singular."""
    words = [part.lower() for part in _parts(token) if len(part) >= _SOUNDED and part.lower() not in _STOP]
    return tuple(filter(None, (latin_skeleton(word[:-1] if word.endswith("s") and not word.endswith("ss") else word) for word in words)))


def _bigrams(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


@dataclass(frozen=True, slots=True)
class Analysis:
    """Terms as they stand in a text, and the sounds of its words by the script in which they are written (see `loanwords`)."""

    terms: tuple[str, ...]
    latin: tuple[str, ...]
    hangul: tuple[str, ...]


class Analyzer:
    """Text to terms. Without `morphemes` Hangul becomes bigrams: within two points of nDCG, and needs no dictionary."""

    def __init__(self, morphemes: Morphemes | None) -> None:
        self._morphemes = morphemes
        # What decides the terms; a part of each document's fingerprint.
        self.name = f"{ANALYSIS}-{'mecab' if morphemes else 'bigram'}"

    def analyse(self, text: str) -> Analysis:
        """Terms in no particular order, repeated as often as they occur."""
        out: list[str] = []
        latin: list[str] = []
        hangul: list[str] = []
        plain = text
        if not text.isascii() and _ACCENTED.search(text):
            out.extend(match[0].casefold()[:_MAX_TERM] for match in _ACCENTED.finditer(text))
            plain = _ACCENTED.sub(" ", text)
        for match in _IDENTIFIER.finditer(plain):
            if match.end() - match.start() > _MAX_IDENTIFIER:
                # Data, not a name.
                out.append(match[0][:_MAX_TERM].lower())
                continue
            out.extend(_identifier(match[0]))
            latin.extend(_latin_sounds(match[0]))
        if not text.isascii():
            if _HANGUL_RUN.search(text):
                if self._morphemes is None:
                    for match in _HANGUL_RUN.finditer(text):
                        out.extend(_bigrams(match[0]))
                        hangul.append(_PARTICLE.sub("", match[0]))
                else:
                    _morphemic(self._morphemes(_ENDLESS.sub(r"\g<0> ", text)), out, hangul)
            for match in _OTHER.finditer(plain):
                word = match[0].casefold()
                out.extend(_bigrams(word) if _UNSPACED.match(word) else (word[:_MAX_TERM],))
        sounds = (hangul_skeleton(word) for word in hangul if len(word) <= _LONGEST_SOUNDED)
        return Analysis(tuple(out), tuple(latin), tuple(filter(None, sounds)))

    def terms(self, text: str) -> list[str]:
        """The terms alone."""
        return list(self.analyse(text).terms)

    def passage(self, heading: str, body: str) -> tuple[dict[int, int], int]:
        """(64-bit term -> frequency, length). A heading counts twice. Sounds are terms of their own and no part of the length."""
        head, text = self.analyse(heading), self.analyse(body)
        counts = Counter(text.terms)
        for term in head.terms:
            counts[term] += HEADING_WEIGHT
        length = sum(counts.values())
        counts.update(_LATIN + sound for part in (head, text) for sound in part.latin)
        counts.update(_KOREAN + sound for part in (head, text) for sound in part.hangul)
        return {term_key(term): count for term, count in counts.items()}, length

    def question(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(terms, sounds) of a question: what is written in Hangul also asks for the same sounds in Latin letters, and the other way round."""
        found = self.analyse(text)
        return found.terms, (*(_LATIN + sound for sound in found.hangul), *(_KOREAN + sound for sound in found.latin))


def _morphemic(morphemes: Iterable[tuple[int, int, str, str]], out: list[str], hangul: list[str]) -> None:
    """Content morphemes into `out`; whole words, without the particles behind them, into `hangul`."""
    word = ""
    # The length of `word` without its particles, and where it ends in the text.
    kept, last = 0, -1
    for start, end, surface, feature in morphemes:
        if surface.isascii():
            continue
        out.extend(_content(surface, feature))
        if start != last:
            if kept:
                hangul.append(word[:kept])
            word, kept = "", 0
        if _HANGUL_RUN.fullmatch(surface):
            word += surface
            if feature[0] != "J":
                kept = len(word)
            last = end
    if kept:
        hangul.append(word[:kept])


@lru_cache(maxsize=500_000)
def term_key(term: str) -> int:
    """A term as a signed 64-bit number: two of a million terms meet with a chance of one in 37 million."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "big", signed=True)


def default_analyzer() -> Analyzer:
    """Mecab where it is installed, else bigrams."""
    try:
        return Analyzer(mecab_morphemes())
    except (ImportError, RuntimeError):
        return Analyzer(None)
