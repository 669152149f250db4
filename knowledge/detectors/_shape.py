"""The shape of a detector, and checks that several share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Character offsets [start, end) of a secret in a text.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Detector:
    """A kind of secret and how to find it. `find` yields spans; it must not raise on any text."""

    kind: str
    find: Callable[[str], Iterator[Span]]
    # Says nothing where another kind is found at the same place.
    generic: bool = False


# What stands for a password without being one.
PLACEHOLDER = re.compile(
    r"[*x.\u2022_#?-]+|\$.*|\{.*|%.*|<.*|\[.*|[A-Z_]*PASSWORD[A-Z_]*|\w+\(.*"
    r"|(?i:.*(?:example|sample|dummy|placeholder|change[_-]?(?:me|it|this)|redacted|masked|hidden|your[_-]|[_-]here|xxx+|\*\*\*|\.\.\.).*|(?:my|the|some)[_-]?(?:password|pwd|secret).*)",
    re.DOTALL,
)


# References, calls, rules, paths, addresses, algorithms, types, versions and words: what stands where a value would.
NO_VALUE = re.compile(
    # Encrypted already: by Sealed Secrets, Vault, a key service.
    r"Ag[0-9A-Za-z+/]{100,}|vault:v\d+:.*|AQICAH.*"
    r"|-.*|[!@:&][A-Za-z_]+|arn:.*|__.*__|.*\$[({].*|.*[{|\\].*|.*<.*>.*|\w[\w.]*[(\[].*|(?:[a-z]+://|/|\./|~/).*"
    r"|(?:[A-Za-z_][A-Za-z_0-9]*[.:/])+[A-Za-z_][A-Za-z_0-9-]*|(?:type|required)=.*"
    r"|(?i:aes|sha|md|bcrypt|scrypt|argon|pbkdf|hmac|rsa|ecdsa|utf|base|iso|tls|var|varchar|char|n?varchar|int|string|text|min|max|len|length|minlength|maxlength|nist|rfc|oauth)[-_]?\d.*|x[-_]?509.*|v\d{1,3}(?:[._-].*)?"
    r"|1Password|v?\d+(?:[.,]\d+)*|\d{4}-\d\d-\d\d(?:[T ].*)?|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z]+(?:[-_.][A-Za-z]+)*",
    re.DOTALL,
)


# Names of things: words and numbers with hyphens between, or in camel case.
NAME = re.compile(r"[a-z]+(?:[-_.](?:[a-z]+\d{0,2}|\d+))+|(?=[a-z0-9]*[A-Z])(?:[A-Z]{0,5}[a-z]{3,}(?:V?\d{1,2})?)+")
_KEY_LENGTH, _RANDOM = 16, 3.2


def places(text: str, words: Sequence[str]) -> Iterator[int]:
    """Each offset at which one of the words begins. A pattern that is tried there alone costs a tenth of one that is tried everywhere."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            yield at
            at = text.find(word, at + 1)


# Detectors are asked one after the other about the same text.
@lru_cache(maxsize=1)
def lower(text: str) -> str:
    """The text in lower case with every character at its place."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(character.lower()[0] for character in text)


_SYMBOL = re.compile(r"[!@#$%^&*?]")
_LETTERS = re.compile(r"[A-Za-z+/]{12,}={0,2}")
_TURN = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
# Of random letters every second one is of another case than the one before, and one in five is a vowel; of names in camel case one
# in three and less, and more vowels.
_JUMBLED, _TURNING, _VOWELS = 0.4, 0.25, 0.2


def is_jumbled(value: str) -> bool:
    """Random letters: one random password of twelve characters in eight has no digit."""
    if not _LETTERS.fullmatch(value):
        return False
    share = len(_TURN.findall(value)) / (len(value.rstrip("=")) - 1)
    vowels = sum(letter in "aeiouAEIOU" for letter in value) / len(value)
    return share >= _JUMBLED or (share >= _TURNING and vowels <= _VOWELS)


def is_password(value: str) -> bool:
    """Letters with digits or with a sign, as rules for passwords ask for; or random ones."""
    return bool(
        re.search(r"[A-Za-z]", value) and (re.search(r"\d", value) or _SYMBOL.search(value) or is_jumbled(value))
    )


def is_given(value: str) -> bool:
    """Nothing that stands where a value would."""
    return not PLACEHOLDER.fullmatch(value) and (not NO_VALUE.fullmatch(value) or is_jumbled(value))


def is_key(value: str) -> bool:
    """Long and random, and no name with numbers in it."""
    return (
        len(value) >= _KEY_LENGTH
        and (re.search(r"\d", value) is not None or is_jumbled(value))
        and not NAME.fullmatch(value)
        and entropy(value) >= _RANDOM
    )


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
