"""Relations in a document's front matter: `service: orders`, `depends_on: [payment]`, `publishes: order.created`. Pure. Rule: `front_matter.role`."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from designed.extractors.blocks import Document
from designed.extractors.entries import entries
from designed.extractors.flat import Flat
from designed.extractors.lists import role_statements
from designed.extractors.names import Name, Names
from designed.extractors.roles import role_of
from designed.extractors.statements import CALLS, Statement
from designed.extractors.subjects import subject_of
from designed.readers._yaml import documents, pairs, scalar

_OWN = ("service", "component", "application", "app", "name", "title", "서비스")


def front_statements(document: Document, names: Names) -> Iterator[tuple[Flat, Statement]]:
    """(value, statement) of each value under a key that is a role of the service that the front matter, or else the title, names."""
    if not document.front.strip():
        return
    roots, _ = documents(document.front)
    found = [(key, value) for root in roots[:1] for key, _, value in pairs(root)]
    subject = _subject(document, names, dict(found))
    if subject is None:
        return
    for key, value in found:
        role = role_of(key.replace("_", " ").replace("-", " "))
        if role is None:
            continue
        for node in _scalars(value):
            flat = document.flat(
                document.front_start + node.start_mark.index, document.front_start + node.end_mark.index
            )
            known = names.find(flat, doubtful=True)
            things = entries(flat, 0, len(flat.text), known, topics=role[0] != CALLS)
            yield from ((flat, s) for s in role_statements(subject, things, role, "front_matter.role"))


def _subject(document: Document, names: Names, found: dict[str, yaml.Node]) -> Name | None:
    told = [scalar(found[key]) for key in _OWN if key in found and scalar(found[key])]
    heading = next((b for b in document.blocks if b.kind == "heading"), None)
    if heading is not None and heading.level == 1:
        told.append(document.flat(heading.start, heading.end).text)
    for text in told:
        if (subject := subject_of(text, names.registry)) is not None:
            return Name(-1, -1, -1, subject[0], subject[1], subject[0].kind_hint)
    return None


def _scalars(node: yaml.Node) -> Iterator[yaml.Node]:
    for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        if isinstance(item, yaml.ScalarNode) and scalar(item):
            yield item
