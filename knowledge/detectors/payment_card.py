"""Payment card numbers: 13 to 19 digits of a known issuer range, grouped as cards are, with a valid Luhn digit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span, luhn

# One kind of separator throughout, groups of at least two digits. A digit, letter or hyphenated part next to it makes it
# something else (a UUID, an order number); Hangul does not, nor does a name of cards that it is given to.
_GIVEN = "|".join(rf"(?<=(?i:{name})=\d)" for name in ("card", "pan", "cardno", "card_no", "number"))
_NUMBER = re.compile(
    rf"\d(?:(?<![0-9A-Za-z_.\-+#/=]\d)|{_GIVEN})(?:[ .-]?\d){{12,18}}(?![0-9A-Za-z_]|[-./]\d)", re.ASCII
)
_GROUPED = re.compile(
    r"\d{4}([ .-])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5}|\d{4}([ -])\d{4}\3\d{4}\3\d{4}\3\d{3}|\d{13,19}"
)
# (prefix range, lengths): ISO/IEC 7812 issuers that are in use.
_ISSUERS: tuple[tuple[int, int, int, frozenset[int]], ...] = (
    (4, 4, 1, frozenset({13, 16, 19})),
    (51, 55, 2, frozenset({16})),
    (2221, 2720, 4, frozenset({16})),
    (34, 34, 2, frozenset({15})),
    (37, 37, 2, frozenset({15})),
    (36, 36, 2, frozenset(range(14, 20))),
    (38, 39, 2, frozenset(range(14, 20))),
    (300, 305, 3, frozenset({14, 16})),
    (6011, 6011, 4, frozenset(range(16, 20))),
    (644, 649, 3, frozenset(range(16, 20))),
    (65, 65, 2, frozenset(range(16, 20))),
    (62, 62, 2, frozenset(range(16, 20))),
    (3528, 3589, 4, frozenset(range(16, 20))),
    # Domestic Korean cards.
    (9, 9, 1, frozenset({16})),
    (50, 50, 2, frozenset(range(13, 20))),
    (56, 59, 2, frozenset(range(13, 20))),
    (63, 63, 2, frozenset(range(13, 20))),
    (67, 67, 2, frozenset(range(13, 20))),
)
# Strong where it is one block of digits: a millisecond or nanosecond time stamp passes Luhn one time in ten.
_TIMES = re.compile(r"1[0-9]{12}|1[0-9]{15}|1[0-9]{18}")


def _issued(digits: str) -> bool:
    return any(low <= int(digits[:width]) <= high and len(digits) in lengths for low, high, width, lengths in _ISSUERS)


def _find(text: str) -> Iterator[Span]:
    for match in _NUMBER.finditer(text):
        written = match[0]
        if not _GROUPED.fullmatch(written):
            continue
        digits = written.replace(" ", "").replace("-", "").replace(".", "")
        if len(set(digits)) > 1 and not _TIMES.fullmatch(digits) and _issued(digits) and luhn(digits):
            yield match.span()


DETECTOR = Detector("payment_card", _find)
