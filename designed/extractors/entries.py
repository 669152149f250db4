"""Entries of a cell or list that names things: `AWS S3 (images), notification-service`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from designed.extractors.flat import Flat
from designed.extractors.names import Name
from designed.extractors.roles import NOTHING
from designed.reader import RawName
from nexus.model.service import NodeKind
from nexus.model.technology import technology

_SPLIT = re.compile(r"\s*(?:,(?![^()]*\))|;|·|•|/(?=\s)|\s\+\s|\s&\s|<br>|、|\band\b|\s및\s)\s*")
_DASH = re.compile(r"\s[—–]\s")
_LABEL = re.compile(r"[A-Za-z가-힣0-9][\w가-힣.&+*-]*(?: [\w가-힣.&+*-]+){0,4}")


def entries(
    flat: Flat, start: int, end: int, names: Sequence[Name], *, topics: bool, open_names: bool = True
) -> list[Name]:
    """Things that [start, end) lists. An entry that no registry knows is taken as written where `open_names`."""
    found: list[Name] = []
    text = flat.text
    dashes = list(_DASH.finditer(text, start, end))
    if len(dashes) == 1:
        # "`Orders` (SQL Server) — keeps customer and job data": one thing and what is said of it.
        end = dashes[0].start()
    bounds = [start, *[b for m in _SPLIT.finditer(text, start, end) for b in m.span()], end]
    for begin, last in zip(bounds[::2], bounds[1::2], strict=False):
        first = begin
        while first < last and not (text[first].isalnum() or text[first] in "*#"):
            first += 1
        label = text[first:last].strip().rstrip(".:")
        if not label or NOTHING.fullmatch(label):
            continue
        inside = [n for n in names if first <= n.start < last]
        bare = re.split(r"\s*[(（\[:]|\s[-–—]\s", label, maxsplit=1)[0].strip()
        if inside and (
            inside[0].start == first or (len(inside) == 1 and inside[0].end - inside[0].start >= len(bare) * 0.5)
        ):
            found.append(inside[0])
        elif open_names and _LABEL.fullmatch(bare) and not re.fullmatch(r"[\d.]+%?", bare):
            product = technology(bare)
            kind = NodeKind.TOPIC.value if topics else product[1].value if product else ""
            found.append(
                Name(
                    first,
                    first + len(bare),
                    first + len(bare),
                    RawName(bare, kind),
                    f"name:{bare.casefold()}",
                    kind,
                    product is not None,
                    brought=True,
                )
            )
    return found
