"""Which documents must be joined together, and which by themselves: claims are made part by part, so that memory holds one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from designed.summaries import JOINED
from nexus.store.designed import DocumentHead

# Documents that stand by themselves, in memory as readings at one time.
PART: Final = 500


def together(before: Mapping[str, DocumentHead], after: Mapping[str, DocumentHead], touched: Iterable[str]) -> set[str]:
    """Namespaces whose documents must be joined anew: there are manifests, and one of the documents touched matters to them."""
    manifests = _with_manifests(before) | _with_manifests(after)
    return {
        head.namespace
        for rid in touched
        for heads in (before, after)
        if (head := heads.get(rid)) is not None and head.joined
    } & manifests


def beside(heads: Mapping[str, DocumentHead], namespaces: set[str]) -> set[str]:
    """The documents of namespaces that are joined with one another: those that manifests depend on or are, and what has their path."""
    paths = {(h.namespace, h.path) for h in heads.values() if h.joined and h.namespace in namespaces}
    return {rid for rid, h in heads.items() if (h.namespace, h.path) in paths}


def parts(heads: Mapping[str, DocumentHead], due: set[str]) -> Iterator[list[str]]:
    """`due` in parts: of a namespace with manifests what is joined is one part, however large; all else stands by itself."""
    whole = beside(heads, _with_manifests(heads)) & due
    groups: dict[str, list[str]] = {}
    for rid in sorted(whole):
        groups.setdefault(heads[rid].namespace, []).append(rid)
    yield from (rids for _, rids in sorted(groups.items()))
    alone = sorted(due - whole)
    yield from (alone[i : i + PART] for i in range(0, len(alone), PART))


def _with_manifests(heads: Mapping[str, DocumentHead]) -> set[str]:
    return {head.namespace for head in heads.values() if head.joined == JOINED}
