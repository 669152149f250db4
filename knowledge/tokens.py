"""Text to BM25 terms: Korean morphemes, identifiers whole and in parts, stemmed English words. The same for passages and questions.

mecab sees what stands between two spaces, unchanged, and only Hangul is taken from it; everything else is taken from the original by
pattern. Replacing identifiers before mecab would change how it segments what stands around them. Words repeat, in a text and from text to
text: each is segmented once, and always in the same way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

from knowledge.glossary import entries
from knowledge.loanwords import hangul_skeleton, latin_skeleton

# Bumped when the analysis changes: what was indexed before is then indexed anew.
ANALYSIS = "a4"
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

# A text to its morphemes in order, each `surface TAB feature`.
Morphemes = Callable[[str], list[str]]


def mecab_morphemes() -> Morphemes:
    """Morphemes by mecab-ko. Thread-safe: the tagger is constant, the lattice is made per call."""
    import _mecab  # type: ignore[import-not-found]  # the wheel's extension module
    from mecab import MeCab

    tagger = MeCab()._tagger  # noqa: SLF001  # the public way makes objects of each morpheme: half the time of an ingest

    def parse(text: str) -> list[str]:
        lattice = _mecab.Lattice()
        lattice.add_request_type(_mecab.MECAB_ALLOCATE_SENTENCE)
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


Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class Analysis:
    """How often each term occurs in a text, and each sound of its words by the script in which they are written (see `loanwords`)."""

    terms: Counts
    latin: Counts
    hangul: Counts


class Analyzer:
    """Text to terms. Without `morphemes` Hangul becomes bigrams: within two points of nDCG, and needs no dictionary."""

    def __init__(self, morphemes: Morphemes | None) -> None:
        self._morphemes = morphemes
        self._sound = lru_cache(maxsize=200_000)(self._heard)
        self._word = lru_cache(maxsize=200_000)(self._parsed)
        # A word is asked for its terms and then for its sound; the passages of a section have one heading.
        self._short = lru_cache(maxsize=4096)(self._lines)
        self._heading = lru_cache(maxsize=64)(self.analyse)
        # What decides the terms; a part of each document's fingerprint.
        self.name = f"{ANALYSIS}-{'mecab' if morphemes else 'bigram'}"

    def analyse(self, text: str) -> Analysis:
        """Terms and sounds. Words repeat: each is looked at once and counted."""
        terms: Counts = defaultdict(int)
        latin: Counts = defaultdict(int)
        hangul: Counts = defaultdict(int)
        plain = text
        if not text.isascii() and _ACCENTED.search(text):
            _add(terms, (match[0].casefold()[:_MAX_TERM] for match in _ACCENTED.finditer(text)), 1)
            plain = _ACCENTED.sub(" ", text)
        for token, count in Counter(_IDENTIFIER.findall(plain)).items():
            # A very long one is data, not a name.
            found, heard = _token(token) if len(token) <= _MAX_IDENTIFIER else ((token[:_MAX_TERM].lower(),), ())
            _add(terms, found, count)
            _add(latin, heard, count)
        if not text.isascii():
            if self._morphemes is not None:
                for word, count in Counter(text.split()).items():
                    if not word.isascii():
                        _add(terms, self._word(word) if len(word) <= _MAX_IDENTIFIER else self._parsed(word), count)
            for run, count in Counter(_HANGUL_RUN.findall(text)).items():
                sound = self._sound(run) if len(run) <= _LONGEST_RUN else ""
                if sound:
                    hangul[sound] += count
                if self._morphemes is None:
                    _add(terms, _bigrams(run), count)
            for match in _OTHER.finditer(plain):
                word = match[0].casefold()
                _add(terms, _bigrams(word) if _UNSPACED.match(word) else (word[:_MAX_TERM],), 1)
        return Analysis(terms, latin, hangul)

    def _parsed(self, word: str) -> tuple[str, ...]:
        """The terms of what stands between two spaces."""
        if not _HANGUL_RUN.search(word):
            return ()
        lines = self._short(word) if len(word) <= _MAX_IDENTIFIER else self._lines(word)
        return tuple(term for line in lines for term in _morpheme(line))

    def _lines(self, text: str) -> list[str]:
        return self._morphemes(_ENDLESS.sub(r"\g<0> ", text)) if self._morphemes is not None else []

    def _heard(self, run: str) -> str:
        """The skeleton of a Hangul word without the particles behind it; "" where it means too many words, or none."""
        if self._morphemes is None:
            word = _PARTICLE.sub("", run)
        else:
            word = run
            for line in reversed(self._short(run)):
                surface, _, feature = line.partition("\t")
                if not feature.startswith("J"):
                    break
                word = word.removesuffix(surface)
        return hangul_skeleton(word) if len(word) <= _LONGEST_SOUNDED else ""

    def terms(self, text: str) -> list[str]:
        """The terms alone, in no particular order, repeated as often as they occur."""
        return list(Counter(self.analyse(text).terms).elements())

    def passage(self, heading: str, body: str) -> tuple[dict[int, int], int]:
        """(64-bit term -> frequency, length). A heading counts twice. Sounds are terms of their own and no part of the length."""
        head, text = self._heading(heading), self.analyse(body)
        counts = {term_key(term): count for term, count in text.terms.items()}
        _count(counts, head.terms, "", HEADING_WEIGHT)
        length = sum(counts.values())
        for part in (head, text):
            _count(counts, part.latin, _LATIN, 1)
            _count(counts, part.hangul, _KOREAN, 1)
        return counts, length

    def question(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(terms, what they ask for beside themselves) of a question.

        What is written in Hangul also asks for the same sounds in Latin letters, and the other way round; both ask for the words of
        the other language that mean the same (see `glossary`).
        """
        found = self.analyse(text)
        asked = Counter({_LATIN + sound: count for sound, count in found.hangul.items()})
        asked.update({_KOREAN + sound: count for sound, count in found.latin.items()})
        asked.update(self._meant(found.terms.keys()))
        return tuple(Counter(found.terms).elements()), tuple(asked.elements())

    def _meant(self, terms: AbstractSet[str]) -> set[str]:
        """Terms of the other language for the entries of which every term is there."""
        near = (entry for term in terms for entry in self._glossary.get(term, ()))
        return {meaning for said, meanings in near if said <= terms for meaning in meanings} - terms

    @cached_property
    def _glossary(self) -> dict[str, list[tuple[frozenset[str], frozenset[str]]]]:
        """One term of an entry -> (all its terms, the terms of its meanings), in both directions."""
        out: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = defaultdict(list)
        for korean, english in entries():
            for words, others in ((korean, english), (english, korean)):
                meanings = frozenset(term for other in others for term in self.analyse(other).terms)
                for word in words:
                    said = frozenset(self.analyse(word).terms)
                    if said:
                        out[min(said)].append((said, meanings))
        return dict(out)


def _add(counts: Counts, words: Iterable[str], times: int) -> None:
    for word in words:
        counts[word] += times


def _count(counts: dict[int, int], words: Counts, mark: str, weight: int) -> None:
    for word, count in words.items():
        key = term_key(mark + word)
        counts[key] = counts.get(key, 0) + weight * count


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
