r"""Private key blocks (PEM, OpenSSH, PGP, PuTTY), also cut off or on one line with `\n`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[23]:")
_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]+")
# What may stand in a block: base64, headers, escaped line ends. Where the end is missing the block stops at other text.
_BODY = re.compile(r"(?:[ \t>|#*/\"'+]*(?:\\n|\\r)*[0-9A-Za-z+/=:,\\ .()@_-]{0,120}(?:\r?\n|\Z)){0,200}")
_REACH = 20_000


def _find(text: str) -> Iterator[Span]:
    for match in _BEGIN.finditer(text):
        end = _END.search(text, match.end(), match.end() + _REACH)
        if end is not None:
            # A mention in prose ("between -----BEGIN PRIVATE KEY----- and -----END ...") holds no key.
            if len(re.sub(r"[^0-9A-Za-z+/=]", "", text[match.end() : end.start()])) >= 24:
                yield match.start(), end.end()
            continue
        block = re.match(r"(?:\s|\\n)*(?:[0-9A-Za-z+/=]{40,}(?:\s|\\n)*)+", text[match.end() : match.end() + _REACH])
        if block is not None:
            yield match.start(), match.end() + block.end()


DETECTOR = Detector("private_key", _find)
