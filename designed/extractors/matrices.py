"""Tables with names on both sides: who calls, publishes or subscribes to whom is a mark where they cross. Pure. Rule: `table.matrix`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from designed.extractors.blocks import Block, Document
from designed.extractors.entries import entries
from designed.extractors.flat import Flat
from designed.extractors.names import Name, Names, brought
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Statement

_CORNER = re.compile(
    r"|(?P<row>.*?)\s*(?:\\|/|→|->|↓|\bvs\b|\bx\b)\s*(?P<column>.*)|services?|서비스|from|callers?|호출자|호출 주체",
    re.IGNORECASE,
)
# Sides of a corner ("to \ from") that are called.
_CALLED = re.compile(
    r"(?:to|targets?|callees?|providers?|destinations?|피호출\S*|대상|호출 ?대상|수신\S*)", re.IGNORECASE
)
_YES = re.compile(
    r"[✓✔☑✅●○◯◎•*]️?|o|y|yes|true|예|sync|async|동기|비동기|https?|rest|g?rpc|graphql|feign|kafka|websocket|직접",
    re.IGNORECASE,
)
_CROSS = re.compile(r"[x✗✘❌]️?", re.IGNORECASE)
_PUBLISHES = re.compile(r"p|pub|publish(?:es)?|produces?|producer|발행|생산", re.IGNORECASE)
_SUBSCRIBES = re.compile(r"s|c|sub|subscribes?|consumes?|consumer|구독|소비|수신", re.IGNORECASE)
_BOTH = re.compile(r"p ?[/,+&] ?[sc]|pub ?/ ?sub|발행 ?[/,·] ?구독", re.IGNORECASE)


def matrix(document: Document, block: Block, names: Names) -> Iterator[tuple[Flat, Statement]]:
    """(row, statement) of each mark; nothing for a table that is no matrix."""
    corner = _CORNER.fullmatch(document.cell(block.rows[0][0]).text.strip(" *_`"))
    columns = _heads(document, block, names) if corner is not None and len(block.rows[0]) > 2 else []
    if not columns:
        return
    rows = [document.row(row) for row in block.rows[1:]]
    marks = [flat.text[slice(*span)].strip(" *_`") for flat, spans in rows for span in spans[1:]]
    # "O" and "X" stand for yes and no; where nothing but crosses stands, a cross is a yes.
    crossed = not any(
        _YES.fullmatch(mark) or _PUBLISHES.fullmatch(mark) or _SUBSCRIBES.fullmatch(mark) for mark in marks
    )
    turned = corner is not None and _CALLED.fullmatch(corner["row"] or "") is not None
    for flat, spans in rows:
        found = names.find(flat, *spans[0], doubtful=True)
        found += brought(flat, *spans[0], found)
        own = next(iter(entries(flat, *spans[0], found, topics=False, open_names=False)), None)
        if own is None:
            continue
        for head, span in zip(columns, spans[1:], strict=False):
            mark = flat.text[slice(*span)].strip(" *_`")
            source, target = (head, own) if turned or own.topic else (own, head)
            for relation in _relations(mark, target, crossed=crossed):
                if not source.passive and source.key != target.key:
                    yield (
                        flat,
                        Statement(
                            relation, source.raw, source.key, target.raw, target.key, "table.matrix", spans[0][0]
                        ),
                    )


def _heads(document: Document, block: Block, names: Names) -> list[Name]:
    """What each column stands for; empty unless all stand for something that is known."""
    flat, spans = document.row(block.rows[0])
    known = names.find(flat, doubtful=True)
    known = sorted([*known, *brought(flat, 0, len(flat.text), known)], key=lambda n: n.start)
    heads = [entries(flat, *span, known, topics=False, open_names=False) for span in spans[1:]]
    return [head[0] for head in heads] if all(len(head) == 1 for head in heads) else []


def _relations(mark: str, target: Name, *, crossed: bool) -> Sequence[str]:
    if target.topic:
        if _BOTH.fullmatch(mark):
            return PUBLISHES, SUBSCRIBES
        return (PUBLISHES,) if _PUBLISHES.fullmatch(mark) else (SUBSCRIBES,) if _SUBSCRIBES.fullmatch(mark) else ()
    return (CALLS,) if _YES.fullmatch(mark) or (crossed and _CROSS.fullmatch(mark)) else ()
