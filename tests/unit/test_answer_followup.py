"""Follow-ups: four edits and no others, none without history."""

from __future__ import annotations

import pytest

from answer.followup import rewrite
from nexus.testing.answering import ask, service
from nexus.testing.shop import registry

REGISTRY = registry()
HISTORY = (("who calls fx?", "fx is used by checkout [E1]."),)


@pytest.mark.parametrize(
    ("text", "query", "edits"),
    [
        ("how is it doing?", "how is fx doing?", ("pronoun",)),
        ("what does it call?", "what does fx call?", ("pronoun",)),
        ("그걸 누가 호출하나요?", "fx를 누가 호출하나요?", ("pronoun",)),
        ("그 서비스는 누가 호출하나요?", "fx는 누가 호출하나요?", ("pronoun",)),
        ("그럼 누가 호출해?", "그럼 fx를 누가 호출해?", ("pronoun",)),
        ("누가 써?", "fx를 누가 써?", ("pronoun",)),
        ("그럼 뭘 호출하나요?", "그럼 fx는 뭘 호출하나요?", ("pronoun",)),
        ("누가 payment를 호출해?", "누가 payment를 호출해?", ()),
        ("what does checkout call, as a table", "what does checkout call", ("format request",)),
        ("What is the retry limit according to runbook.md?", "What is the retry limit?", ("source restriction",)),
        ("We use Postgres 16, what does checkout call?", "what does checkout call?", ("user's fact",)),
        ("why does checkout call fx?", "why does checkout call fx?", ()),
    ],
)
def test_edits(text: str, query: str, edits: tuple[str, ...]) -> None:
    found = rewrite(text, HISTORY, REGISTRY)
    assert (found.query, found.edits) == (query, edits)
    assert rewrite(text, (), REGISTRY).query == text


def test_facts_are_kept_apart_and_languages_set() -> None:
    found = rewrite("We use Postgres 16, who calls fx? in Korean", HISTORY, REGISTRY)
    assert found.facts == ("We use Postgres 16",)
    assert found.language == "ko"
    answer = service().answer(ask("We use Postgres 16, who calls fx? in Korean", history=HISTORY))
    assert "fx를 사용하는 쪽" in answer.text
    assert answer.packet.user_facts == ("We use Postgres 16",)
    assert "16" not in answer.text


def test_the_original_question_stays_a_channel() -> None:
    packet = service().packet(ask("how is it doing?", history=HISTORY))
    assert packet.searched[0] == "passages: how is it doing?"
    assert packet.searched[1] == "passages: how is fx doing? (pronoun)"
    assert [e.name for e in packet.subjects] == ["fx"]


def test_a_source_restriction_cuts_evidence() -> None:
    only = service().packet(ask("How are payments retried according to runbook.md?", history=HISTORY))
    assert only.passages
    assert {p.hit.passage.document.uri for p in only.passages} == {"docs/runbook.md"}
    traces = service().packet(ask("who calls fx, only in traces?", history=HISTORY))
    assert traces.passages == ()
    assert traces.edges
