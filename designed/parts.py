"""Which documents must be joined together, and which by themselves: claims are made part by part, so that memory holds one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from designed.summaries import JOINED
from nexus.store.designed import DocumentHead

# Documents that stand by themselves, in memory as readings at one time.
PART: Final = 500


def together(before: Mapping[str, DocumentHead], after: Mapping[str, DocumentHead], touched: Iterable[str]) -> set[str]:
    """Namespaces whose documents must be joined anew: there are manifests, and one of the documents touched matters to them."""
    with_manifests = _with_manifests(before) | _with_manifests(after)
    return {
        head.namespace
        for rid in touched
        for heads in (before, after)
        if (head := heads.get(rid)) is not None and head.joined
    } & with_manifests


def manifests(heads: Mapping[str, DocumentHead], namespaces: set[str]) -> set[str]:
    """The documents of namespaces whose claims are made of several."""
    return {rid for rid, head in heads.items() if head.joined == JOINED and head.namespace in namespaces}


@dataclass(frozen=True, slots=True)
class Part:
    """Documents whose claims are made at one time; those `beside` them say what matters to these claims, and are made elsewhere."""

    rids: tuple[str, ...]
    beside: tuple[str, ...] = ()


def parts(heads: Mapping[str, DocumentHead], due: set[str]) -> Iterator[Part]:
    """`due` in parts: the manifests of a namespace are one, however many they are; all else stands by itself."""
    whole = manifests(heads, {heads[rid].namespace for rid in due}) & due
    for namespace in sorted({heads[rid].namespace for rid in whole}):
        own = {rid for rid in whole if heads[rid].namespace == namespace}
        here = {rid: head for rid, head in heads.items() if head.namespace == namespace}
        # What else has a path is needed to tell whose the path is.
        paths = {head.path for head in here.values() if head.joined}
        others = (rid for rid, head in here.items() if head.path in paths and rid not in own)
        yield Part(tuple(sorted(own)), tuple(sorted(others)))
    alone = sorted(due - whole)
    yield from (Part(tuple(alone[i : i + PART])) for i in range(0, len(alone), PART))


def _with_manifests(heads: Mapping[str, DocumentHead]) -> set[str]:
    return {head.namespace for head in heads.values() if head.joined == JOINED}
