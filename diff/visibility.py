"""Who may see what a finding is made from.

A verdict depends on the claims that it was made from, so a reader who may not see a claim must get the verdict that the
remaining claims give: an edge that only a RESTRICTED document mentions is, to a reader below, an undocumented edge, and a
dead dependency of such a document does not exist. Each claim has a *label* (classification and document namespace).
Findings are made once for every set of labels that some reader can see of their claims, and stored with the labels that the
reader must see (`needs`) and must not see (`hidden`). So a stored report is exact for every reader, tokens of tomorrow included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations

from nexus.model.claim import Claim
from nexus.model.document import Classification

# Namespaces in one group of claims up to which every subset is computed; above, all together and each alone.
NAMESPACES_MAX = 4
_SEPARATOR = "|"


def labels_of(claims: Sequence[Claim]) -> frozenset[str]:
    """The labels of claims."""
    if len(claims) == 1:
        return _alone(claims[0].classification, claims[0].namespace)
    return frozenset([label(claim) for claim in claims])


@lru_cache(maxsize=4096)
def _alone(classification: Classification, namespace: str) -> frozenset[str]:
    return frozenset({_label(classification, namespace)})


def label(claim: Claim) -> str:
    """`INTERNAL|default`."""
    return _label(claim.classification, claim.namespace)


@lru_cache(maxsize=4096)
def _label(classification: Classification, namespace: str) -> str:
    return f"{classification.value}{_SEPARATOR}{namespace}"


def visible(labels: Iterable[str], clearance: Classification, namespaces: tuple[str, ...]) -> frozenset[str]:
    """The labels that a reader sees. `namespaces` empty = all."""
    found = set()
    for text in labels:
        level, _, namespace = text.partition(_SEPARATOR)
        if Classification(level).rank <= clearance.rank and (not namespaces or namespace in namespaces):
            found.add(text)
    return frozenset(found)


@lru_cache(maxsize=4096)
def views(labels: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Every subset of labels that some reader sees, largest first; the empty one (nothing visible) is the last.

    Above NAMESPACES_MAX namespaces the subsets are those of readers of all, or of one; another reader's set is none of
    them, so that reader gets no finding of this group: closed, not open.
    """
    spaces = sorted({text.partition(_SEPARATOR)[2] for text in labels})
    every = len(spaces) <= NAMESPACES_MAX
    chosen: list[tuple[str, ...]] = (
        [c for n in range(1, len(spaces) + 1) for c in combinations(spaces, n)]
        if every
        else [(), *((space,) for space in spaces)]
    )
    found: set[frozenset[str]] = {visible(labels, level, names) for level in Classification for names in chosen} | {
        frozenset()
    }
    return tuple(sorted(found, key=lambda v: (-len(v), sorted(v))))
