"""Answers about rules, promises, conflicts and life: both sides are cited, and each citation carries its sentence."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from answer.asks import verdicts_asked
from answer.narrators.template import TemplateNarrator
from answer.run import AnswerService
from answer.sources import Ports
from answer.verify import verify
from diff.compare import compare
from diff.korean import finding_in
from diff.policy import Policy
from diff.simulate import Cache, Sim, TrueEdge, midnight, says
from nexus.model.claim import Modality, Quantity
from nexus.model.document import Classification, DocumentRef, Passage, Tier
from nexus.model.edge import DesignedEdge, ObservedEdge, Relation
from nexus.model.registry import Registry
from nexus.model.service import Coverage, CoverageRange, NodeKind, RangeState
from nexus.model.window import TimeRange
from nexus.ports.answers import Answer, AnswerRequest, EdgeEvidence, Packet, QuestionKind
from nexus.testing.readers import MemoryDesigned, MemoryDrift, MemoryObserved, MemoryRetriever

UNTIL = 60
NOW = midnight(UNTIL)
TOPIC = "kafka/order.placed"
BUSY = {"shop": 2000, "orders": 1500, "billing": 800, "ledger": 700, "mailer": 400, "reports": 300, "audit": 200}
EDGES = (
    TrueEdge("shop", "orders", rate=0.3),
    TrueEdge("billing", "ledger", rate=0.5),
    TrueEdge("reports", "ledger", rate=0.2),
    TrueEdge("orders", "billing", rate=0.3),
    TrueEdge("audit", "billing", rate=0.2, last_day=48),
    TrueEdge("orders", TOPIC, Relation.PUBLISHES_OBSERVED, target_kind=NodeKind.TOPIC, protocol="kafka", rate=0.3),
    TrueEdge("mailer", TOPIC, Relation.SUBSCRIBES_OBSERVED, target_kind=NodeKind.TOPIC, protocol="kafka", rate=0.3),
    TrueEdge("orders", "mailer", Relation.DELIVERS_OBSERVED, via=TOPIC, protocol="kafka", rate=0.3),
)
SIM = Sim(BUSY, EDGES)


def said(quote: str, edge: DesignedEdge) -> DesignedEdge:
    return replace(edge, claims=tuple(replace(c, quote=quote) for c in edge.claims))


ONLY = "Only billing may call ledger."
DOCUMENTS = (
    said("shop calls orders.", says("shop", "orders")),
    said(
        ONLY,
        says("billing", "ledger", document="rules.md", modality=Modality.EXCLUSIVE, exclusivity="only_by"),
    ),
    said("orders calls mailer to confirm.", says("orders", "mailer", line=2)),
    said(
        "orders calls billing with a success rate of 99.9 %.",
        says("orders", "billing", document="slo.md", quantities=(Quantity("success_rate", 99.9, "%"),)),
    ),
    said("audit calls billing every day.", says("audit", "billing", line=3)),
    # The arrow is drawn the wrong way round.
    said("orders calls shop for the basket.", says("orders", "shop", document="drawn.md")),
)


def dressed(edge: ObservedEdge) -> ObservedEdge:
    return replace(edge, errors=edge.calls // 50) if edge.target.name == "billing" else edge


def measured(edge: ObservedEdge, window: TimeRange) -> ObservedEdge | None:
    """The edge in the days that a range touches."""

    def day(at: datetime | None, default: int) -> int:
        return default if at is None else max(0, (at - midnight(0)).days)

    true = next(e for e in EDGES if e.rid == edge.rid)
    first = day(window.start, 0)
    found = CACHE.edge(true, first, max(day(window.end, UNTIL), first + 1))
    return dressed(found) if found is not None else None


CACHE = Cache(SIM)
REGISTRY = Registry(SIM.entities())
SEEN = tuple(dressed(e) for true in EDGES if (e := CACHE.edge(true, 0, UNTIL)) is not None)
EVIDENCE = SIM.evidence(UNTIL, DOCUMENTS)
EVIDENCE = replace(EVIDENCE, observed=tuple(map(dressed, EVIDENCE.observed)), past=tuple(map(dressed, EVIDENCE.past)))
MADE = compare(EVIDENCE, Policy())
FINDINGS = [row.finding for row in MADE.seen_with(MADE.labels)]


def answer(question: str, gaps: Coverage | None = None, findings=FINDINGS, passages=(), documents=DOCUMENTS) -> Answer:
    ports = Ports(
        MemoryRetriever("default", passages),
        MemoryObserved("default", SEEN, measured=measured, gaps=gaps or Coverage(complete=True)),
        MemoryDesigned("default", documents, REGISTRY),
        MemoryDrift("default", findings, NOW),
    )
    service = AnswerService(ports, TemplateNarrator(), lambda: NOW)
    found = service.answer(AnswerRequest(question, "default", Classification.INTERNAL))
    assert [(s.text, s.reason) for s in found.verification.sentences if not s.verified] == []
    return found


def packet_with(edge: ObservedEdge) -> Packet:
    return Packet("q", "en", QuestionKind.HEALTH, NOW, TimeRange(), edges=(EdgeEvidence("E1", edge),))


def cited(found: Answer, part: str) -> set[str]:
    """(layer, source, target) of the edges that the sentence with those words cites."""
    (line,) = [line for line in found.text.splitlines() if part in line]
    edges = {e.marker: e for e in found.packet.edges}
    return {f"{e.layer.value} {e.edge.source.name}>{e.edge.target.name}" for m, e in edges.items() if f"[{m}]" in line}


@pytest.mark.parametrize("question", ["may reports call ledger?", "reports가 ledger를 호출해도 되나요?"])
def test_a_permission_is_answered_by_the_rule_and_who_breaks_it(question: str) -> None:
    found = answer(question)
    assert "Only billing may call ledger" in found.text.splitlines()[0]
    assert cited(found, "reserved for others") == {"observed reports>ledger", "designed billing>ledger"}


def test_a_rule_answers_for_who_was_never_seen_and_says_nothing_of_others() -> None:
    found = answer("may mailer call ledger?")
    assert "show that mailer uses ledger directly" in found.text
    assert "Only billing may call ledger" in found.text
    assert "reserved for others" not in found.text
    allowed = answer("may billing call ledger?")
    assert "documented and observed" in allowed.text
    assert "reports" not in allowed.text


def test_who_may_is_answered_by_rules_before_who_does() -> None:
    lines = answer("who is allowed to call ledger?").text.splitlines()
    assert "Only billing may call ledger" in lines[0]
    assert any(line.startswith("ledger is used by") for line in lines[1:])


@pytest.mark.parametrize("question", ["does orders keep its promise to billing?", "is billing within its SLO?"])
def test_a_promise_is_answered_by_what_became_of_it(question: str) -> None:
    found = answer(question)
    assert "slo.md (slo.md:1) says" in found.text
    assert cited(found, "— success 99.900%: violated") == {"observed orders>billing", "designed orders>billing"}


@pytest.mark.parametrize(
    "question", ["why does orders call mailer?", "does the doc match reality for orders -> mailer?"]
)
def test_another_mode_is_told_with_both_sides(question: str) -> None:
    found = answer(question)
    assert cited(found, "another mode than documented") == {"observed orders>mailer", "designed orders>mailer"}
    assert "not documented in what is visible" not in found.text


@pytest.mark.parametrize("question", ["why does shop call orders?", "why does orders call shop?"])
def test_a_sentence_the_wrong_way_round_is_told_from_either_side(question: str) -> None:
    alone = [e for e in DOCUMENTS if e.claims[0].document.title != "drawn.md" and e.source.name != "shop"]
    made = compare(SIM.evidence(UNTIL, [*alone, DOCUMENTS[-1]]), Policy())
    turned = [row.finding for row in made.seen_with(made.labels)]
    assert "direction" in {f.status for f in turned}
    found = answer(question, findings=turned)
    assert cited(found, "not the other way round (certain)") == {"observed shop>orders", "designed orders>shop"}


def test_down_is_answered_from_what_callers_see_now_and_from_gaps() -> None:
    found = answer("is billing down?")
    assert "orders calls billing: last seen 2026-03-01 22:00 UTC" in found.text
    assert "audit calls billing: not seen since 2026-02-18 22:00 UTC" in found.text
    # Counts are those of now, not of all that is kept.
    recent = measured(
        next(e for e in SEEN if e.source.name == "orders" and e.target.name == "billing"), found.packet.window
    )
    assert recent is not None
    assert f"orders calls billing: {recent.calls} calls, {recent.errors} errors" in found.text
    assert found.packet.window.start is not None
    gap = CoverageRange("tempo", midnight(59), midnight(60), RangeState.FAILED, "timeout")
    blind = answer("is billing down?", Coverage(complete=False, gaps=(gap,)))
    assert "Telemetry has gaps: tempo 2026-03-01 00:00 to 2026-03-02 00:00 UTC failed: timeout [E" in blind.text


def test_first_and_last_of_one_minute_are_both_what_they_are_called() -> None:
    once = replace(SEEN[0], first_seen=SEEN[0].last_seen)
    found = packet_with(once)
    assert once.last_seen is not None
    at = once.last_seen.strftime("%Y-%m-%d %H:%M")
    checked = verify(
        f"shop calls orders: last seen {at} UTC [E1]. shop calls orders: first seen {at} UTC [E1].", found, REGISTRY
    )
    assert [s.reason for s in checked.sentences] == ["", ""]
    apart = packet_with(SEEN[0])
    wrong = verify(f"shop calls orders: first seen {at} UTC [E1].", apart, REGISTRY)
    assert wrong.sentences[0].reason.endswith("for last, not for first")


def test_what_has_stopped_is_told_with_what_was() -> None:
    found = answer("why does audit call billing?")
    assert cited(found, "audit has stopped to use billing (certain)") == {
        "observed audit>billing",
        "designed audit>billing",
    }


def test_verdicts_of_all_documents_are_those_asked_for() -> None:
    rules, promises, unseen = (
        {f.status for e in answer(text).packet.edges for f in e.findings if f.summary.rstrip(".") in answer(text).text}
        for text in (
            "which rules are violated?",
            "which promises are broken?",
            "which documented dependencies were never seen?",
        )
    )
    assert (rules, promises) == ({"only_by"}, {"success_rate"})
    assert {"ceased", "only_by"} & unseen == {"ceased"}
    assert verdicts_asked("is anything undocumented?") == {"observed_only"}


def test_that_no_rule_is_broken_is_said_by_the_comparison_and_not_by_a_rule() -> None:
    rule = Passage(
        "p",
        DocumentRef("d", "Rules", "rules.md", "r"),
        0,
        ("Rules",),
        (1, 1),
        ONLY,
        Classification.INTERNAL,
        Tier.AUTHORED,
    )
    kept = [f for f in FINDINGS if f.status != "only_by"]
    found = answer("which rules are violated?", findings=kept, passages=(rule,))
    assert (found.abstained, found.text.endswith("The last comparison found none.")) == (True, True)


def test_a_korean_answer_tells_findings_in_korean() -> None:
    korean = [finding_in(f, "ko") for f in FINDINGS]
    found = answer("orders가 billing과의 약속을 지키고 있나요?", findings=korean)
    assert "오류가 납니다" in found.text
    assert "violated" not in found.text


def test_where_no_edge_holds_a_rule_or_a_promise_the_documents_are_asked() -> None:
    for question in ("does ledger keep its SLO?", "who is allowed to call orders?"):
        assert answer(question).packet.kind == "document"
    assert answer("may audit call mailer?").packet.kind == "document"


@pytest.mark.parametrize("sampling", ["none", "unknown"])
def test_every_finding_in_korean_is_carried_by_what_it_cites(sampling: str) -> None:
    """Some are of two sentences, and say of a dependency what the narrator says of it too."""
    world = replace(SIM, sampling=sampling)
    documents = [*DOCUMENTS, says("orders", "audit", line=9)]
    made = compare(world.evidence(UNTIL, documents), Policy())
    korean = [finding_in(row.finding, "ko") for row in made.seen_with(made.labels)]
    for name in BUSY:
        assert answer(f"{name} 문서가 실제와 일치하나요?", findings=korean, documents=documents).text
        assert answer(f"{name}은 무엇을 호출하나요?", findings=korean, documents=documents).text
