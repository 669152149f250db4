"""One sentence a finding: what is wrong, how sure that is and why."""

from __future__ import annotations

from functools import cache

from diff.subject import Kind, Verdict
from nexus.model.service import Node

_VERBS = {"CALLS": "calls", "PUBLISHES": "publishes", "SUBSCRIBES": "subscribes to", "DELIVERS": "delivers to"}
_NOT = {
    "CALLS": "does not call",
    "PUBLISHES": "does not publish",
    "SUBSCRIBES": "does not subscribe to",
    "DELIVERS": "does not deliver to",
}


def verb(relation: str) -> str:
    """The relation in words."""
    return _VERBS.get(relation, relation.casefold())


def sure(verdict: Verdict) -> str:
    """How sure, in a word."""
    if verdict.undecided:
        return "undecided"
    return "certain" if verdict.confidence >= 0.95 else "likely"


def summary(kind: Kind, verdict: Verdict, source: Node, target: Node, relation: str) -> str:
    """`checkout does not call loyalty, though a document says so (certain): nothing in 10,500 requests ...`."""
    return f"{_title(kind.title, relation).format(source=source.name, target=target.name)} ({sure(verdict)}): {verdict.because}."


@cache
def _title(title: str, relation: str) -> str:
    """The kind's plain sentence for a relation; the names are still to come."""
    return title.replace(
        "{source} does not call {target}", f"{{source}} {_NOT.get(relation, 'does not use')} {{target}}"
    ).replace("{relation}", verb(relation))
