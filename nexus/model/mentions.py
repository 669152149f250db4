"""Finding names in running text: longest match on word boundaries, with the marks that tell a name from a common word. Pure.

A name of one plain word (`order`, `cart`, 결제) is *weak*: in "alphabetical order" it is no name. It counts where
something marks it (code span, capital inside a sentence, "the order service", 결제 서비스, 결제(pay)) or where its
neighbours leave no other reading.
"""

# ruff: noqa: E501  # word lists stay in one line each

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nexus.model.names import WORD, words
from nexus.model.technology import technology

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[가-힣]+|[^\W\d_가-힣A-Za-z]+")
CAMEL = re.compile(r"[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*")
_GLUE = frozenset("-_./:@#$%&=+\\~")
_SEPARATORS = frozenset({"", "-", "_", " ", "."})
HANGUL = re.compile(r"[가-힣]+")
# What may follow a name inside one Hangul word: particles, alone or stacked, and the copula.
PARTICLE = re.compile(
    r"(?:들)?(?:에게서|한테서|에서부터|으로부터|로부터|에서|에게|한테|께서|으로써|으로서|로써|로서|으로|로|까지|부터|보다|처럼|마다|조차|마저|뿐|만|와|과|랑|이랑|하고|의|에|이|가|은|는|을|를|도|나|이나|라는|이라는|인|이며|이고|이다|다|입니다|란)*"
)
KO_HEADS = (
    "마이크로서비스",
    "서비스",
    "시스템",
    "서버",
    "모듈",
    "데이터베이스",
    "토픽",
    "이벤트",
    "큐",
    "브로커",
    "클러스터",
    "게이트웨이",
)
# Components that teams call by their kind alone.
KO_ALONE = frozenset({"클라이언트", "프런트엔드", "프론트엔드", "키오스크", "백오피스", "운영툴", "어드민"})
_KO_HEAD = re.compile(r"(?:{})".format("|".join(KO_HEADS)))
# Nouns after a name that keep it a name.
EN_HEADS = frozenset(
    "service services microservice microservices svc server servers api apis app apps application component components system database databases db topic topics queue queues "
    "cluster instance instances endpoint endpoints pod pods deployment container containers daemon worker workers module broker cache gateway backend team's stream store "
    "bucket exchange ui client clients".split()
)
_DETERMINERS = frozenset(
    "the its our your their both either neither and or & via downstream upstream multiple several many".split()
)
_BAD_BEFORE = frozenset(
    "a an this that these those each every any no new some such user users' another one per in-process".split()
)
_FUNCTION = frozenset(
    "all whether once whenever unless since while during without within upon onto behind per the its our your their both to from of on in into onto by with via through for and or but nor then than as at is are was were be been being do does did will would can could may might "
    "must shall should not never only also directly which that who it they when if while where what how why before after between against over under about like unlike until because so "
    "asynchronously synchronously then there itself has have had".split()
)
_HOW_OFTEN = frozenset("every each once twice again first only too".split())


class Token(NamedTuple):
    """A word with its place; `key` is the word in lower case."""

    start: int
    end: int
    key: str


@dataclass(frozen=True, slots=True)
class Found:
    """A spelling at [start, end); `core_end` is where the name itself ends, before a head noun. `weak` = one common-looking word."""

    start: int
    end: int
    core_end: int
    value: int
    weak: bool
    marked: bool


def tokens(text: str) -> list[Token]:
    """Words of a text."""
    return [Token(m.start(), m.end(), m[0].casefold()) for m in _TOKEN.finditer(text)]


def is_weak(spelling: str) -> bool:
    """One plain word without digit, hyphen or a telling ending, and no product's name."""
    if technology(spelling) is not None:
        return False
    parts = words(spelling)
    if len(parts) != 1 or not spelling.isalpha():
        return False
    word = parts[0]
    if HANGUL.fullmatch(word):
        return word not in KO_ALONE and (not word.endswith(KO_HEADS) or word in KO_HEADS)
    return not (word.endswith(("service", "svc", "db", "api", "server", "gateway", "proxy")) and len(word) > 7)


_ANY = "\0"


def _longest(entry: tuple[tuple[str, ...], int, bool]) -> tuple[int, int]:
    return -len(entry[0]), entry[1]


class NameIndex:
    """Spellings as word sequences. `add` all, then `find`."""

    def __init__(self) -> None:
        # By the first word and then the second: `svc-1` and `svc-2` share the first with all of a team's names. The second is empty for
        # names of one word, and `_ANY` where it is Hangul, which particles may follow.
        self._sequences: dict[str, dict[str, list[tuple[tuple[str, ...], int, bool]]]] = {}
        # By the first letter and then the second.
        self._hangul: dict[str, dict[str, list[tuple[str, int, bool]]]] = {}

    def add(self, spelling: str, value: int) -> None:
        """A spelling of the thing number `value`."""
        parts = words(spelling)
        if not parts or (len(parts) == 1 and len(parts[0]) < 2):
            return
        weak = is_weak(spelling)
        second = "" if len(parts) == 1 else _ANY if HANGUL.match(parts[1]) else parts[1]
        self._sequences.setdefault(parts[0], {}).setdefault(second, []).append((parts, value, weak))
        if any(HANGUL.fullmatch(part) for part in parts):
            # Spaces inside Korean compounds are optional: 결제 서비스, 결제서비스.
            joined = "".join(parts)
            self._hangul.setdefault(joined[:1], {}).setdefault(joined[1:2], []).append((joined, value, weak))

    def close(self) -> None:
        """Longest first."""
        for by_second in self._sequences.values():
            for entries in by_second.values():
                entries.sort(key=_longest)
        for by_second_letter in self._hangul.values():
            for joined in by_second_letter.values():
                joined.sort(key=lambda entry: (-len(entry[0]), entry[1]))

    def maybe(self, text: str) -> bool:
        """Whether a text can hold a name at all: a cheap look before `find`."""
        firsts, hangul = self._sequences, self._hangul
        return any(word.casefold() in firsts or word[0].casefold() in hangul for word in _TOKEN.findall(text)) or any(
            word.casefold() in firsts for word in CAMEL.findall(text)
        )

    def find(self, text: str, code: Callable[[int], bool] | None = None) -> list[Found]:
        """Names in a text, in order, without overlaps. `code(offset)` says whether an offset lies in a code span or link text."""
        found: list[Found] = []
        parts = tokens(text)
        firsts, hangul = self._sequences, self._hangul
        camels = {match.start() for match in CAMEL.finditer(text) if match[0].casefold() in firsts}
        end = 0
        for position, (start, _, key) in enumerate(parts):
            # Most words begin no name.
            if start < end or (key not in firsts and key[0] not in hangul and start not in camels):
                continue
            match = self._at(text, parts, position, code)
            if match is not None:
                found.append(match)
                end = match.end
        return found

    def _at(self, text: str, parts: list[Token], position: int, code: Callable[[int], bool] | None) -> Found | None:
        first = parts[position]
        if not _open(text, parts, position):
            return None
        best: tuple[int, int, bool] | None = None
        for sequence, value, weak in self._candidates(
            first.key, parts[position + 1].key if position + 1 < len(parts) else ""
        ):
            last = position + len(sequence) - 1
            if (
                last >= len(parts)
                or not all(parts[position + i].key == word for i, word in enumerate(sequence[:-1]))
                or not _joined(text, parts, position, last)
            ):
                continue
            if parts[last].key == sequence[-1]:
                if _closed(text, parts, last):
                    best = (parts[last].end, value, weak)
                    break
                if (suffix := _SUFFIX.match(text, parts[last].end)) is not None:
                    # order-service, OrderService, order_svc.
                    best = (suffix.end(), value, False)
                    break
            if last > position and _with_particle(parts[last].key, sequence[-1]):
                best = (parts[last].start + len(sequence[-1]), value, weak)
                break
        if best is None and (camel := CAMEL.match(text, first.start)) is not None:
            # "CockroachDB" is the name that is spelled cockroachdb.
            last = next(i for i in range(position, len(parts)) if parts[i].end >= camel.end())
            for _, value, _ in self._sequences.get(camel[0].casefold(), {}).get("", ()):
                if parts[last].end == camel.end() and _closed(text, parts, last):
                    best = (camel.end(), value, False)
        if first.key[0] in self._hangul:
            korean = self._korean(text, first)
            if korean is not None and (best is None or korean[0] > best[0]):
                best = korean
        if best is None:
            return None
        end, value, weak = best
        full, headed = _head(text, end)
        # A particle makes a noun of whatever it follows: payment에서.
        marked = (
            not weak
            or headed
            or (full == end and HANGUL.match(text, end) is not None and not HANGUL.match(text[end - 1]))
            or (code is not None and code(first.start))
            or _capital_inside(text, first.start)
            or _glossed(text, end)
        )
        return Found(first.start, full, end, value, weak, marked)

    def _candidates(self, first: str, second: str) -> list[tuple[tuple[str, ...], int, bool]]:
        """Names that begin with a word, as far as the next word allows, longest first."""
        by_second = self._sequences.get(first)
        if by_second is None:
            return []
        long, loose = by_second.get(second, []) if second else [], by_second.get(_ANY, [])
        return [*(sorted([*long, *loose], key=_longest) if long and loose else long or loose), *by_second.get("", [])]

    def _korean(self, text: str, first: Token) -> tuple[int, int, bool] | None:
        second = first.start + (2 if text[first.start + 1 : first.start + 2] == " " else 1)
        by_second = self._hangul.get(first.key[0], {})
        for joined, value, weak in by_second.get(text[second : second + 1].casefold(), ()):
            end = _match_spaced(text, first.start, joined)
            if end is None:
                continue
            rest = HANGUL.match(text, end)
            if rest is None or PARTICLE.fullmatch(rest[0]) or _KO_HEAD.match(rest[0]):
                return end, value, weak
        return None


def _with_particle(word: str, name: str) -> bool:
    """게이트웨이를: a Hangul word and a particle or head noun."""
    return (
        HANGUL.fullmatch(name) is not None
        and word.startswith(name)
        and (PARTICLE.fullmatch(word[len(name) :]) is not None or _KO_HEAD.match(word[len(name) :]) is not None)
    )


def _match_spaced(text: str, start: int, joined: str) -> int | None:
    position = start
    for letter in joined:
        if position < len(text) and text[position] == " " and position > start:
            position += 1
        if position >= len(text) or text[position].casefold() != letter:
            return None
        position += 1
    return position


def _open(text: str, parts: list[Token], position: int) -> bool:
    start = parts[position].start
    if start == 0:
        return True
    before = text[start - 1]
    if before.isalnum():
        # Latin after Hangul, Hangul after Latin or a digit, and camelCase joints are inside a word; digits before Hangul are ports and the like.
        return bool(HANGUL.match(text[start]) and before.isdigit())
    return (
        before not in _GLUE
        or (before in ":/=" and (start < 2 or text[start - 2] in " ("))
        or (before in "./" and start >= 2 and text[start - 2] in ". ")
    )


def _closed(text: str, parts: list[Token], last: int) -> bool:
    end = parts[last].end
    if end >= len(text):
        return True
    after = text[end]
    if HANGUL.match(after):
        rest = HANGUL.match(text, end)
        return (
            not HANGUL.match(text[end - 1])
            and rest is not None
            and (PARTICLE.fullmatch(rest[0]) is not None or _KO_HEAD.match(rest[0]) is not None)
        )
    if after.isalnum() or after == "_":
        return False
    if after in _GLUE:
        # "payment." and "payment:" end a sentence or clause; "payment.created", "order-id" and "cart/items" go on. A port is no part of the name.
        rest_text = text[end + 1 : end + 2]
        return rest_text in ("", " ", "\n", ")", '"', "'", "`", "*", "|") or (after == ":" and rest_text.isdigit())
    return True


def _joined(text: str, parts: list[Token], first: int, last: int) -> bool:
    return all(text[parts[i].end : parts[i + 1].start] in _SEPARATORS for i in range(first, last))


_SUFFIX = re.compile(r"[-_]?(?:[Mm]icro)?(?:[Ss]ervice|SERVICE|[Ss]vc)(?![A-Za-z0-9_]|-\w)")


_KO_HEAD_AFTER = re.compile(r"[`\]*]* ?(?:마이크로 ?서비스|{})".format("|".join(KO_HEADS)))
_EN_HEAD_AFTER = re.compile(r"[`\]*_]*(?:\([^)\s]*\))?\s+([A-Za-z]+)\b(?!-)")
_GLOSS = re.compile(r" ?\([A-Za-z가-힣][\w -]*\)")


def _head(text: str, end: int) -> tuple[int, bool]:
    """End of the name with a head noun after it ("cart service", 결제 서비스), and whether there is one."""
    korean = _KO_HEAD_AFTER.match(text, end)
    if korean is not None:
        return korean.end(), True
    position, headed = end, False
    while (match := _EN_HEAD_AFTER.match(text, position)) is not None and match[1].casefold() in EN_HEADS:
        position, headed = match.end(), True
    return position, headed


def _capital_inside(text: str, start: int) -> bool:
    """A capital that no sentence start explains."""
    if not text[start].isupper():
        return False
    before = text[:start].rstrip(" \t\n*_`[(\"'")
    return bool(before) and before[-1] not in ".!?:;|>-•" and not before[-1].isdigit()


def _glossed(text: str, end: int) -> bool:
    """`결제(pay)`: a gloss in brackets right after it."""
    return _GLOSS.match(text, end) is not None and bool(HANGUL.match(text[end - 1]))


def plausible(text: str, item: Found, verbs: Iterable[str] = ()) -> bool:
    """Whether a weak, unmarked name can be a name here: a function word, verb or stop on both sides, and no indefinite article."""
    if item.marked:
        return True
    if HANGUL.match(text[item.start]):
        return False
    before = re.findall(r"[A-Za-z']+|[^\sA-Za-z]", text[: item.start])
    after = re.findall(r"[A-Za-z']+|[^\sA-Za-z]", text[item.end : item.end + 40])
    previous = before[-1].casefold() if before else ""
    following = after[0].casefold() if after else ""
    if previous in _BAD_BEFORE:
        return False
    known = set(verbs)
    left = (
        not previous
        or not previous[0].isalpha()
        or previous in _FUNCTION
        or previous in _DETERMINERS
        or previous in known
    )
    right = (
        not following
        or not following[0].isalpha()
        or following in _FUNCTION
        or following in known
        or following in _HOW_OFTEN
        or following.endswith("ly")
    )
    return left and right


__all__ = [
    "CAMEL",
    "EN_HEADS",
    "HANGUL",
    "KO_ALONE",
    "KO_HEADS",
    "PARTICLE",
    "WORD",
    "Found",
    "NameIndex",
    "Token",
    "is_weak",
    "plausible",
    "tokens",
]
