"""Text to BM25 terms: Korean morphemes, identifiers whole and in parts, stemmed English words. The same for passages and questions.

mecab sees what stands between two spaces, unchanged, and only Hangul is taken from it; everything else is taken from the original by
pattern. Replacing identifiers before mecab would change how it segments what stands around them. Words repeat, in a text and from text to
text: each is segmented once, and always in the same way.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from hashlib import blake2b
from threading import local
from typing import Any, NamedTuple

from knowledge.glossary import entries
from knowledge.loanwords import hangul_skeleton, latin_skeleton

# Bumped when the analysis changes: what was indexed before is then indexed anew.
ANALYSIS = "a6"
HEADING_WEIGHT = 2
# What can stand in no text: marks terms that are sounds.
_LATIN, _KOREAN = "\x01e", "\x01k"
# Letters of an English word and syllables of a Korean one between which a likeness of sound means something.
_SOUNDED, _LONGEST_SOUNDED = 4, 10
# With the particles behind it; a longer one is no word that has a sound.
_LONGEST_RUN = 20
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
# Neither ASCII nor Hangul: without it there are identifiers only.
_FOREIGN = re.compile(r"[^\x00-\x7f가-힣]")
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
_ENDLESS_FROM = 200
_ENDLESS = re.compile(rf"[가-힣]{{{_ENDLESS_FROM}}}")

# A text to its morphemes in order, each `surface TAB feature`.
Morphemes = Callable[[str], list[str]]


def mecab_morphemes() -> Morphemes:
    """Morphemes by mecab-ko. Thread-safe: the tagger is constant, each thread has a lattice."""
    import _mecab  # type: ignore[import-not-found]  # the wheel's extension module
    from mecab import MeCab

    tagger = MeCab()._tagger  # noqa: SLF001  # the public way makes objects of each morpheme: half the time of an ingest

    def made() -> Any:
        lattice = _mecab.Lattice()
        lattice.add_request_type(_mecab.MECAB_ALLOCATE_SENTENCE)
        return lattice

    class Kept(local):
        def __init__(self) -> None:
            self.lattice = made()

    kept = Kept()

    def parse(text: str) -> list[str]:
        # A lattice keeps the memory of the longest text that it ever held.
        lattice = kept.lattice if len(text) <= _MAX_IDENTIFIER else made()
        lattice.set_sentence(text)
        tagger.parse(lattice)
        lines: list[str] = lattice.to_string().split("\n")
        # The last two are EOS and nothing.
        return lines[:-2]

    return parse


@lru_cache(maxsize=200_000)
def _morpheme(line: str) -> tuple[str, ...]:
    """The terms of a line of mecab. What is ASCII is taken from the text itself."""
    surface, _, feature = line.partition("\t")
    return () if surface.isascii() else _content(surface, feature)


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
    return [
        part
        for piece in pieces
        for part in (_CAMEL.findall(piece) if not piece.islower() and not piece.isupper() else [piece])
    ]


def _identifier(token: str) -> tuple[str, ...]:
    """An ASCII token: the parts of camelCase, kebab, snake and dots stemmed, and the whole where it has parts."""
    parts = _parts(token)
    if len(parts) == 1:
        word = parts[0].lower()
        return () if word in _STOP else (_stem(word)[:_MAX_TERM],)
    return (
        token.lower()[:_MAX_TERM],
        *(_stem(part.lower())[:_MAX_TERM] for part in parts if part.lower() not in _STOP),
    )


def _latin_sounds(token: str) -> tuple[str, ...]:
    """The skeletons of an ASCII token's words, in the singular."""
    words = [part.lower() for part in _parts(token) if len(part) >= _SOUNDED and part.lower() not in _STOP]
    return tuple(
        filter(
            None,
            (latin_skeleton(word[:-1] if word.endswith("s") and not word.endswith("ss") else word) for word in words),
        )
    )


def _bigrams(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


@lru_cache(maxsize=200_000)
def _token(token: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(terms, sounds) of an ASCII token."""
    return _identifier(token), _latin_sounds(token)


def _identifiers(text: str) -> tuple[list[str], list[str]]:
    """(terms, sounds) of every ASCII token."""
    terms: list[str] = []
    sounds: list[str] = []
    for token in _IDENTIFIER.findall(text):
        # A very long one is data, not a name.
        found, heard = _token(token) if len(token) <= _MAX_IDENTIFIER else ((token[:_MAX_TERM].lower(),), ())
        terms += found
        sounds += heard
    return terms, sounds


def _other_scripts(text: str) -> tuple[list[str], list[str]]:
    """(terms, sounds) of everything but Hangul."""
    accented = [match[0].casefold()[:_MAX_TERM] for match in _ACCENTED.finditer(text)]
    plain = _ACCENTED.sub(" ", text) if accented else text
    terms, sounds = _identifiers(plain)
    for match in _OTHER.finditer(plain):
        word = match[0].casefold()
        terms += _bigrams(word) if _UNSPACED.match(word) else [word[:_MAX_TERM]]
    return accented + terms, sounds


class Word(NamedTuple):
    """What stands between two spaces: its terms, and the sounds of its words by the script in which they are written (see `loanwords`)."""

    terms: tuple[str, ...]
    latin: tuple[str, ...]
    hangul: tuple[str, ...]


class Rephrasing(NamedTuple):
    """Terms of a question, and the ways to say the same in other terms. Only the best way that a passage has counts, and never beside what was said."""

    said: tuple[str, ...]
    ways: tuple[tuple[str, ...], ...]


# The same as numbers: of the terms, and of the sounds in both scripts. Plain tuples of numbers cost the garbage collector nothing.
Keys = tuple[tuple[int, ...], tuple[int, ...]]


class Analyzer:
    """Text to terms. Without `morphemes` Hangul becomes bigrams: within two points of nDCG, and needs no dictionary."""

    def __init__(self, morphemes: Morphemes | None) -> None:
        self._morphemes = morphemes
        # No term reaches over a space.
        self._word = lru_cache(maxsize=100_000)(self._analysed)
        self._keys = lru_cache(maxsize=200_000)(self._numbered)
        # What decides the terms; a part of each document's fingerprint.
        self.name = f"{ANALYSIS}-{'mecab' if morphemes else 'bigram'}"

    def _analysed(self, word: str) -> Word:
        if word.isascii():
            terms, latin = _identifiers(word)
            return Word(tuple(terms), tuple(latin), ())
        runs = _HANGUL_RUN.findall(word)
        if runs == [word]:
            terms, latin = [], []
        else:
            terms, latin = _other_scripts(word) if _FOREIGN.search(word) else _identifiers(word)
        lines = self._lines(word) if runs else []
        for line in lines:
            terms += _morpheme(line)
        for run in runs if self._morphemes is None else ():
            terms += _bigrams(run)
        heard = [self._heard(run, lines if run == word else None) for run in runs if len(run) <= _LONGEST_RUN]
        return Word(tuple(terms), tuple(latin), tuple(filter(None, heard)))

    def _numbered(self, word: str) -> Keys:
        terms, latin, hangul = self._analysed(word)
        sounds = [_LATIN + sound for sound in latin] + [_KOREAN + sound for sound in hangul]
        return tuple(map(term_key, terms)), tuple(map(term_key, sounds))

    def _lines(self, text: str) -> list[str]:
        if self._morphemes is None:
            return []
        return self._morphemes(_ENDLESS.sub(r"\g<0> ", text) if len(text) >= _ENDLESS_FROM else text)

    def _heard(self, run: str, lines: list[str] | None) -> str:
        """The skeleton of a Hangul word without the particles behind it; "" where it means too many words, or none. `lines`: its morphemes, if known."""
        whole = hangul_skeleton(run)
        if not whole:
            # Without its particles it is shorter still.
            return ""
        if self._morphemes is None:
            word = _PARTICLE.sub("", run)
        else:
            word = run
            for line in reversed(self._lines(run) if lines is None else lines):
                surface, _, feature = line.partition("\t")
                if not feature.startswith("J"):
                    break
                word = word.removesuffix(surface)
        if len(word) > _LONGEST_SOUNDED:
            return ""
        return whole if word == run else hangul_skeleton(word)

    def _words(self, text: str) -> Iterator[tuple[Word, int]]:
        """Each word and how often it is there. A very long one is data, not language: it is not kept in mind."""
        for word, times in _counted(text):
            yield (self._word(word) if len(word) <= _MAX_IDENTIFIER else self._analysed(word)), times

    def terms(self, text: str) -> list[str]:
        """The terms alone, in no particular order, repeated as often as they occur."""
        return [term for word, times in self._words(text) for term in word.terms * times]

    def passage(self, heading: str, body: str) -> tuple[dict[int, int], int]:
        """(64-bit term -> frequency, length). A heading counts twice. Sounds are terms of their own and no part of the length."""
        terms: list[int] = []
        sounds: list[int] = []
        for text, weight in ((body, 1), (heading, HEADING_WEIGHT)):
            for word, times in _counted(text):
                keys, heard = self._keys(word) if len(word) <= _MAX_IDENTIFIER else self._numbered(word)
                terms += keys * (weight * times)
                sounds += heard * times
        return dict(Counter(terms + sounds)), len(terms)

    def question(self, text: str) -> tuple[tuple[str, ...], tuple[Rephrasing, ...]]:
        """(terms, what else may stand for them) of a question; nothing stands for two phrases, and of two the longer has it.

        What is written in Hangul is also found by the same sounds in Latin letters, and the other way round; both are found by the words
        of the other language that mean the same (see `glossary`).
        """
        terms: list[str] = []
        meant: dict[frozenset[str], set[frozenset[str]]] = defaultdict(set)
        for word, times in self._words(text):
            terms += word.terms * times
            heard = [_LATIN + sound for sound in word.hangul] + [_KOREAN + sound for sound in word.latin]
            meant[frozenset(word.terms)].add(frozenset(heard))
        there = frozenset(terms)
        for said, meanings in (entry for term in there for entry in self._glossary.get(term, ())):
            if said <= there:
                meant[said] |= meanings
        taken, out = there, []
        for said in sorted(meant, key=lambda said: (-len(said), sorted(said))):
            ways = {way - taken for way in meant[said]} - {frozenset()}
            taken = taken.union(*ways)
            if ways:
                out.append(Rephrasing(tuple(sorted(said)), tuple(sorted(tuple(sorted(way)) for way in ways))))
        return tuple(terms), tuple(out)

    @cached_property
    def _glossary(self) -> dict[str, list[tuple[frozenset[str], frozenset[frozenset[str]]]]]:
        """One term of an entry -> (all its terms, those of each of its meanings), in both directions."""
        out: dict[str, list[tuple[frozenset[str], frozenset[frozenset[str]]]]] = defaultdict(list)
        for korean, english in entries():
            for words, others in ((korean, english), (english, korean)):
                meanings = frozenset(frozenset(self.terms(other)) for other in others)
                for word in words:
                    said = frozenset(self.terms(word))
                    if said:
                        out[min(said)].append((said, meanings))
        return dict(out)


def _counted(text: str) -> Iterable[tuple[str, int]]:
    """What stands between spaces and how often; Hangul in syllables, also where it was written in its letters, as macOS does in file names."""
    return Counter(unicodedata.normalize("NFC", text).split()).items()


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
