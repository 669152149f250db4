"""Secrets in a text: every detector over the text and over the forms in which a secret hides from a plain reading. Pure."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from knowledge.detectors._shape import Detector

# Invisible: zero-width and bidirectional marks, joiners, fillers, variation selectors, tags. They break a number in two.
_INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
# Wide spaces and hyphens, full-width and mathematical forms, digits of other scripts: what stands for an ASCII character.
_LOOKS = "\u00a0\u2000-\u200a\u2010-\u2015\u202f\u2212\u3000\ufe58\ufe63\uff01-\uff5e\U0001d400-\U0001d7ff"
# A token that goes on in the next line, as programs and shells write it.
_CONTINUED = re.compile(
    r"""[\\"'=](?:(?<=\\)\n[ \t]*|(?<=["'])[ \t]*[+.&]?[ \t]*\\?\n[ \t]*[+.&]?[ \t]*["']|(?<=[0-9A-Za-z]=)\n(?=[0-9A-Za-z]))"""
)
# A pattern that begins with one set of characters is looked for at many times the speed of any other; so with the detectors.
_FOLDABLE = re.compile(f"[{_INVISIBLE}{_LOOKS}\\d](?<![0-9])")
_UNSEEN = re.compile(f"[{_INVISIBLE}]")
_HYPHENS = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63")
# Base64 of something long enough to be a secret, also over several lines of one width.
_CODE = "[0-9A-Za-z+/_-]"
_ENCODED = re.compile(
    rf"{_CODE}(?<!{_CODE}{{2}})(?:{_CODE}{{59,75}}\n[ \t]*(?:{_CODE}{{60,76}}\n[ \t]*)*{_CODE}{{20,}}|{_CODE}{{19,}})={{0,2}}(?![0-9A-Za-z+/_=-])"
)
# Where it can begin: most of a text is shorter words, and this passes over them in half the time.
_RUN = re.compile(f"{_CODE}{{20,}}")
_MAX_ENCODED = 64 * 1024


@dataclass(frozen=True, slots=True)
class Secret:
    """A finding: what kind, and the character offsets [start, end). Never the value."""

    kind: str
    start: int
    end: int


SCANNER_FAILED = "scanner_failed"


def folded(text: str) -> tuple[str, list[int] | None]:
    """The text as a reader without eyes takes it, and for each character its offset in the original.

    Characters that stand for an ASCII one are that one, invisible ones and the breaks of continued tokens are left out. The offsets
    are None where nothing changed, which is the common case.
    """
    breaks = [match.span() for match in _CONTINUED.finditer(text)]
    if not breaks and (text.isascii() or not _FOLDABLE.search(text)):
        return text, None
    out: list[str] = []
    offsets: list[int] = []
    at = 0
    # What is left out or stands for another, in order; all between goes along as it is.
    for start, end in sorted([*breaks, *(match.span() for match in _FOLDABLE.finditer(text))]):
        if start < at:
            continue
        out.append(text[at:start])
        offsets.extend(range(at, start))
        if end - start == 1 and (start, end) not in breaks and not _UNSEEN.match(text[start]):
            out.append(_plain(text[start]))
            offsets.append(start)
        at = end
    out.append(text[at:])
    offsets.extend(range(at, len(text)))
    return "".join(out), offsets


def _plain(character: str) -> str:
    if character.isascii():
        return character
    if character in _HYPHENS:
        return "-"
    if character.isdecimal():
        return str(unicodedata.digit(character))
    form = unicodedata.normalize("NFKC", character)
    return form if len(form) == 1 and form.isascii() else character


def scan(text: str, detectors: Mapping[str, Detector] | Iterable[Detector]) -> list[Secret]:
    """Every secret in the text, in order, also inside base64. A detector that fails gives one finding over the whole text: a failing scanner quarantines."""
    kinds = tuple(detectors.values() if isinstance(detectors, Mapping) else detectors)
    found = _found(text, kinds)
    for start, end, inner in _decoded(text):
        found.update(Secret(secret.kind, start, end) for secret in _found(inner, kinds))
    generic = {detector.kind for detector in kinds if detector.generic}
    named = [secret for secret in found if secret.kind not in generic]
    found -= {
        secret
        for secret in found
        if secret.kind in generic and any(other.start < secret.end and secret.start < other.end for other in named)
    }
    return sorted(found, key=lambda secret: (secret.start, secret.end, secret.kind))


def _found(text: str, kinds: Iterable[Detector]) -> set[Secret]:
    plain, offsets = folded(text)
    found: set[Secret] = set()
    for detector in kinds:
        try:
            for start, end in detector.find(plain):
                found.add(
                    Secret(detector.kind, start, end)
                    if offsets is None
                    else Secret(detector.kind, offsets[start], offsets[end - 1] + 1)
                )
        except Exception:  # noqa: BLE001  # default-deny: whatever went wrong, the text was not cleared
            found.add(Secret(SCANNER_FAILED, 0, len(text)))
    return found


def _decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, what it says) of each run of base64 that is text."""
    end = 0
    for run in _RUN.finditer(text):
        match = _ENCODED.match(text, run.start()) if run.start() >= end else None
        if not match:
            continue
        end = match.end()
        packed = "".join(match[0].split())[:_MAX_ENCODED].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            inner = base64.b64decode(
                packed[: len(packed) - (len(packed) % 4 == 1)] + "=" * (-len(packed) % 4 % 3), validate=True
            ).decode("utf-8")
        except ValueError:
            continue
        if inner.replace("\n", "").replace("\r", "").replace("\t", "").isprintable():
            yield match.start(), match.end(), inner
