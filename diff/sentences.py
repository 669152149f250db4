"""One sentence a finding: what is wrong, how sure that is and why."""

from __future__ import annotations

from diff.subject import Kind, Verdict
from nexus.model.service import Node

_VERBS = {"CALLS": "calls", "PUBLISHES": "publishes", "SUBSCRIBES": "subscribes to", "DELIVERS": "delivers to"}
_NOT = {"CALLS": "does not call", "PUBLISHES": "does not publish", "SUBSCRIBES": "does not subscribe to", "DELIVERS": "does not deliver to"}


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
    title = kind.title.replace("{source} does not call {target}", f"{{source}} {_NOT.get(relation, 'does not use')} {{target}}")
    text = title.replace("{source}", source.name).replace("{target}", target.name).replace("{relation}", verb(relation))
    return f"{text} ({sure(verdict)}): {verdict.because}."
