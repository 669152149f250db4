"""What is joined together is one part; everything else is read part by part."""

from __future__ import annotations

import pytest

from designed import parts as module
from designed.parts import Part, manifests, parts, together
from designed.summaries import ALONE, HEARD, JOINED
from nexus.store.designed import DocumentHead


def heads(**rows: tuple[str, str, int]) -> dict[str, DocumentHead]:
    return {rid: DocumentHead(rid, "r", space, path, "", 1, joined, []) for rid, (space, path, joined) in rows.items()}


SHOP = heads(
    a=("shop", "a.md", ALONE),
    b=("shop", "b.md", HEARD),
    c=("shop", "compose.yml", JOINED),
    d=("shop", "compose.yml", ALONE),
    e=("other", "e.md", HEARD),
    f=("other", "f.md", ALONE),
)


def test_the_manifests_of_a_namespace_are_one_part_beside_what_matters_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART", 2)
    # `d` has the path of a manifest, and what a path means is told by all that have it.
    assert list(parts(SHOP, set(SHOP))) == [Part(("c",), ("b", "d")), Part(("a", "b")), Part(("d", "e")), Part(("f",))]


def test_only_what_is_due_is_in_a_part() -> None:
    assert list(parts(SHOP, {"a", "b", "f"})) == [Part(("a", "b", "f"))]
    assert list(parts(SHOP, {"c"})) == [Part(("c",), ("b", "d"))]
    assert list(parts(SHOP, set())) == []


def test_one_document_that_manifests_depend_on_has_them_joined_anew() -> None:
    assert together(SHOP, SHOP, {"b"}) == {"shop"}
    assert together(SHOP, SHOP, {"a"}) == set()
    assert together(SHOP, SHOP, {"e"}) == set()
    assert manifests(SHOP, {"shop"}) == {"c"}


def test_manifests_that_went_still_count_for_what_they_had_joined() -> None:
    after = {rid: head for rid, head in SHOP.items() if rid != "c"}
    assert together(SHOP, after, {"c"}) == {"shop"}
    assert manifests(after, {"shop"}) == set()
