"""Korean resident and foreigner registration numbers (주민등록번호, 외국인등록번호).

Thirteen digits, `YYMMDD-SNNNNNC`, with or without the hyphen: a date that exists, a century-and-sex digit, and a check digit.
Numbers given out since October 2020 have a random tail without a valid check digit: those count beside a word that says what
they are. Without the word an order number of the same form would count too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from knowledge.detectors._shape import Detector, Span

# Digits, letters of identifiers and separators around it make it a part of something else; Hangul does not.
_NUMBER = re.compile(
    r"(\d(?<![0-9A-Za-z_.\-]\d)\d{5})([ \t]?[-‐‑–][ \t]*\n?[ \t]*|[ \t]|)([1-8]\d{6})(?![0-9A-Za-z_]|[-.]\d)", re.ASCII
)
_WORDS = re.compile(
    r"주민|외국인\s?(등록)?\s?번호|resident\s+(registration\s+)?(number|no\b)|\bRRN\b|\bARN\b|jumin", re.IGNORECASE
)
_WEIGHTS = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
_CONTEXT = 40


def _born(digits: str) -> date | None:
    century = 1900 if digits[6] in "1256" else 2000
    try:
        return date(century + int(digits[:2]), int(digits[2:4]), int(digits[4:6]))
    except ValueError:
        return None


def _checked(digits: str) -> bool:
    total = sum(int(d) * w for d, w in zip(digits[:12], _WEIGHTS, strict=True))
    check = (11 - total % 11) % 10
    # Foreigners' numbers add two.
    return int(digits[12]) in ({(check + 2) % 10, check} if digits[6] in "5678" else {check})


def _find(text: str) -> Iterator[Span]:
    for match in _NUMBER.finditer(text):
        digits = match[1] + match[3]
        born = _born(digits)
        if born is None:
            continue
        said = bool(_WORDS.search(text, max(0, match.start() - _CONTEXT), match.end() + _CONTEXT))
        # Two groups with a space between are too common in tables of numbers.
        joined = not match[2] or bool(match[2].strip())
        if said or (joined and _checked(digits)):
            yield match.span()


DETECTOR = Detector("resident_number", _find)
