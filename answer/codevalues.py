"""Code values beside what a passage says: which names a text may mean, and the number that it claims. Pure. Never judged: both are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from answer.evidence import passage_windows
from answer.quantities import quantities
from nexus.model.names import squash
from nexus.ports.code import CodeValue
from nexus.ports.search import Hit

_PREFIXES = ("", "max", "min", "default", "maximum", "maxallowed")


def names_in(text: str) -> list[str]:
    """Names by which a text may speak of code: back-ticked and identifier-like ones, and the words around its numbers (`items per order` for MAX_ITEMS_PER_ORDER)."""
    found = re.findall(r"`([\w.]{3,60})`", text) + re.findall(
        r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b|\b[a-z]+[A-Z]\w+\b", text
    )
    for line in passage_windows(text):
        if not quantities(line):
            continue
        words = re.findall(r"[A-Za-z]+", line)[:40]
        for size in (2, 3, 4):
            found += [
                prefix + "".join(words[i : i + size]) for i in range(len(words) - size + 1) for prefix in _PREFIXES
            ]
    return list(dict.fromkeys(squash(name.rsplit(".", 1)[-1]) for name in found))[:2000]


def beside(values: Iterable[CodeValue], hits: Sequence[Hit]) -> tuple[CodeValue, ...]:
    """Each code value with the passage's statement that speaks of it, and the number claimed there."""
    out: list[CodeValue] = []
    for value in values:
        spoken = _spoken(value.name)
        for hit in hits:
            line = next(
                (
                    w
                    for w in passage_windows(hit.passage.text)
                    if any(name in squash(w) for name in spoken) and quantities(w)
                ),
                "",
            )
            if line:
                spoken_at = min((squash(line).find(n) for n in spoken if n in squash(line)), default=0)
                numbers = sorted(quantities(line), key=lambda q: abs(len(squash(line[: q.start])) - spoken_at))
                shown = line[numbers[0].start : numbers[0].end].strip()
                out.append(replace(value, passage=hit.passage.rid, claimed=shown))
                break
    return tuple(dict.fromkeys(out))


def _spoken(name: str) -> tuple[str, ...]:
    full = squash(name)
    bare = re.sub(r"^(?:maxallowed|maximum|max|min|default)", "", full)
    return (full, bare) if len(bare) >= 6 else (full,)
