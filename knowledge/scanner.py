"""Secrets in a text: every detector over the text and over the forms in which a secret hides from a plain reading. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knowledge.detectors._shape import Detector

# Characters that are invisible and break a number in two.
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
# What folding changes: those, full-width characters, the wide space, digits of other scripts.
_FOLDABLE = re.compile(r"[\u200b\u200c\u200d\u2060\ufeff\u00ad\uff01-\uff5e\u3000]|(?![0-9])\d")


@dataclass(frozen=True, slots=True)
class Secret:
    """A finding: what kind, and the character offsets [start, end). Never the value."""

    kind: str
    start: int
    end: int


SCANNER_FAILED = "scanner_failed"


def folded(text: str) -> tuple[str, list[int] | None]:
    """The text with full-width characters as ASCII and invisible ones left out, and for each character its offset in the original.

    The offsets are None where nothing changed, which is the common case.
    """
    if text.isascii() or not _FOLDABLE.search(text):
        return text, None
    out: list[str] = []
    offsets: list[int] = []
    for place, character in enumerate(text):
        if character in _INVISIBLE:
            continue
        if "\uff01" <= character <= "\uff5e":
            out.append(chr(ord(character) - 0xFEE0))
        elif character == "\u3000":
            out.append(" ")
        elif character.isdigit() and not "0" <= character <= "9":
            out.append(str(unicodedata.digit(character)))
        else:
            out.append(character)
        offsets.append(place)
    return "".join(out), offsets


def scan(text: str, detectors: Mapping[str, Detector] | Iterable[Detector]) -> list[Secret]:
    """Every secret in the text, in order. A detector that fails gives one finding over the whole text: a failing scanner quarantines."""
    kinds = detectors.values() if isinstance(detectors, Mapping) else detectors
    plain, offsets = folded(text)
    found: set[Secret] = set()
    for detector in kinds:
        try:
            for start, end in detector.find(plain):
                found.add(Secret(detector.kind, start, end) if offsets is None else Secret(detector.kind, offsets[start], offsets[end - 1] + 1))
        except Exception:  # noqa: BLE001  # default-deny: whatever went wrong, the text was not cleared
            found.add(Secret(SCANNER_FAILED, 0, len(text)))
    return sorted(found, key=lambda secret: (secret.start, secret.end, secret.kind))
