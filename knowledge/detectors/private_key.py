r"""Private key blocks (PEM, OpenSSH, SSH2, PGP, PuTTY), also cut off or on one line with `\n`, and private keys in XML and JSON (JWK)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span, places

_BEGIN = re.compile(r"-----? ?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-----?|PuTTY-User-Key-File-[23]:")
_END = re.compile(r"-----? ?END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-----?|Private-MAC: [0-9a-f]+")
# Where the end is missing: lines of base64, also written as `\\n` in one line.
_CUT_OFF = re.compile(r"(?:\s|\\n){0,40}(?:[0-9A-Za-z+/=]{40,}(?:\s|\\n){1,40})*[0-9A-Za-z+/=]{40,}")
_PUTTY = re.compile(r"[^\n]*\n(?:[^\n]{1,100}\n){0,200}?Private-Lines: \d+\s+[0-9A-Za-z+/=]{20,}")
_REACH = 20_000
_KEY = re.compile(r"[0-9A-Za-z+/=]")
_SHORTEST = 24


# The private exponent in the XML of .NET, and in a JSON web key (a symmetric one is all secret).
_XML = re.compile(r"<RSAKeyValue>[\s0-9A-Za-z+/=<>]{0,8000}?<D>\s*([0-9A-Za-z+/=\s]{40,})</D>")
_JWK = re.compile(r"\"(?:d|k)\"\s*:\s*\"([0-9A-Za-z_-]{20,})\"")
_JWK_REACH = 4_000


def _find(text: str) -> Iterator[Span]:
    yield from _blocks(text)
    for match in filter(None, (_XML.match(text, at) for at in places(text, ("<RSAKeyValue>",)))):
        yield match.span()
    for at in places(text, ('"kty"',)):
        low, high = text.rfind("{", max(0, at - _JWK_REACH), at), text.find("}", at, at + _JWK_REACH)
        if low >= 0 and high >= 0 and (found := _JWK.search(text, low, high)):
            yield found.span(1)


def _blocks(text: str) -> Iterator[Span]:
    begins = [
        match
        for at in places(text, ("-----BEGIN ", "---- BEGIN ", "PuTTY-User-Key-File-"))
        if (match := _BEGIN.match(text, at))
    ]
    if not begins:
        return
    ends = [match.span() for match in _END.finditer(text)]
    starts = [start for start, _ in ends]
    for match in begins:
        at = bisect_left(starts, match.end())
        if at < len(ends) and starts[at] - match.end() <= _REACH:
            # A mention in prose ("between -----BEGIN PRIVATE KEY----- and -----END ...") holds no key.
            if len(_KEY.findall(text, match.end(), starts[at])) >= _SHORTEST:
                yield match.start(), ends[at][1]
            continue
        form = _PUTTY if match[0].startswith("PuTTY") else _CUT_OFF
        block = form.match(text, match.end(), match.end() + _REACH)
        if block is not None:
            yield match.start(), block.end()


DETECTOR = Detector("private_key", _find)
