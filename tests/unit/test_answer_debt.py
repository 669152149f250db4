"""What is wrong with documents that were found is told, in the packet and in the answer, and lowers its confidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from answer.debt import debts
from nexus.model.document import DocumentRef
from nexus.ports.search import Hit, SearchRequest, SearchResult
from nexus.testing.answering import ask, service
from nexus.testing.readers import MemoryRetriever
from nexus.testing.shop import PASSAGES, TENANT

HIT = Hit(PASSAGES[0], 0.5, 1, None)


def test_each_kind_of_debt_is_told_once_a_document() -> None:
    twin = replace(
        PASSAGES[0], rid="twin", document=DocumentRef("other", PASSAGES[0].document.title, "old/copy.md", "r")
    )
    assert debts([HIT]) == ()
    assert [d.kind for d in debts([replace(HIT, stale=True), replace(HIT, stale=True)])] == ["stale"]
    # What another document replaced is that, however old it is.
    assert [d.kind for d in debts([replace(HIT, stale=True, superseded=True)])] == ["superseded"]
    # A change that was fetched beside a result is no debt of its document.
    assert debts([HIT, replace(HIT, added_by="correction")]) == ()
    same = debts([HIT, replace(HIT, passage=twin)])
    assert [(d.kind, d.document, d.detail) for d in same] == [
        ("same_title", HIT.passage.document.rid, "same title as old/copy.md"),
        ("same_title", "other", f"same title as {HIT.passage.document.uri}"),
    ]


@pytest.mark.parametrize(
    ("debt", "question", "said"),
    [
        ({"stale": True}, "How long is a card authorised?", "is older than such documents are trusted for ["),
        ({"stale": True, "superseded": True}, "How long is a card authorised?", "is superseded by another document ["),
        ({"stale": True, "superseded": True}, "카드 승인은 몇 분 동안 유효한가요?", "문서는 다른 문서로 대체되었다 ["),
    ],
)
def test_an_answer_warns_of_the_debt_of_what_it_quotes(debt: dict[str, Any], question: str, said: str) -> None:
    passage = replace(PASSAGES[0], text="A card is authorised for 20 minutes. 카드 승인은 20분 동안 유효하다.")

    class Indebted(MemoryRetriever):
        def search(self, request: SearchRequest) -> SearchResult:
            found = super().search(request)
            return replace(found, hits=tuple(replace(hit, **debt) for hit in found.hits))

    plain = service(passages=[passage]).answer(ask(question))
    answer = service(retriever=Indebted(TENANT, [passage])).answer(ask(question))
    assert said in answer.text and said not in plain.text
    assert all(sentence.verified for sentence in answer.verification.sentences)
    assert answer.confidence < plain.confidence
