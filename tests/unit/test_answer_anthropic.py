"""The narrator with a model, against a server that speaks the API's wire format."""

from __future__ import annotations

import time

import pytest

from answer.narrators.anthropic import AnthropicNarrator
from answer.prompt import boundary, user_message
from nexus.errors import ModelUnavailable
from nexus.testing.answering import ask, packet, service
from nexus.testing.fake_anthropic import FakeAnthropic, Fault

GOOD = "checkout calls fx: 943 calls, 5 errors [E1]."


def narrator(server: FakeAnthropic, **given: object) -> AnthropicNarrator:
    values = {
        "api_key": "key",
        "model": "claude-sonnet-5-5",
        "retries": 0,
        "timeout_s": 5.0,
        "clock": time.monotonic,
        **given,
    }
    return AnthropicNarrator(base_url=server.url, **values)  # type: ignore[arg-type]


def test_text_comes_in_pieces_and_is_checked() -> None:
    with FakeAnthropic(GOOD) as server:
        events = list(service(narrator(server)).stream(ask("why does checkout call fx?")))
    assert [e.kind for e in events[:2]] == ["evidence", "delta"]
    assert len([e for e in events if e.kind == "delta"]) > 3
    answer = events[-1].answer
    assert answer is not None
    assert (answer.text, answer.narrator, answer.verification.share) == (GOOD, "anthropic", 1.0)
    assert server.headers[0]["authorization"] == "Bearer key"
    assert server.requests[0]["stream"] is True


def test_a_false_number_is_reported_and_not_removed() -> None:
    with FakeAnthropic("checkout calls fx: 944 calls [E1]. It is very fast [E77].") as server:
        answer = service(narrator(server)).answer(ask("why does checkout call fx?"))
    assert "944" in answer.text
    assert [(n.value, n.verified) for n in answer.verification.numbers] == [(944, False)]
    assert [(c.marker, c.verified) for c in answer.verification.citations] == [("E1", False), ("E77", False)]
    assert answer.confidence < 0.2


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(401, "authentication_error"), "refuses the key"),
        (Fault(403, "permission_error"), "refuses the key"),
        (Fault(404, "not_found_error"), "does not know the model"),
        (Fault(429, "rate_limit_error"), "limits the rate"),
        (Fault(529, "overloaded_error"), "overloaded"),
        (Fault(500, "api_error"), "answered 500 (api_error)"),
        (Fault(400, "invalid_request_error"), "answered 400 (invalid_request_error)"),
        (Fault(text=GOOD, after=2, kind="overloaded_error"), "overloaded"),
        (Fault(text=GOOD, after=3, cut=True), "ended before its end"),
        (Fault(text=GOOD, stop_reason="max_tokens"), "cut at its longest length"),
        (Fault(text="", stop_reason="refusal"), "declined"),
    ],
    ids=lambda value: f"{value.status or value.stop_reason}-{value.after}" if isinstance(value, Fault) else "",
)
def test_failures_return_the_evidence_and_the_reason(fault: Fault, reason: str) -> None:
    with FakeAnthropic(fault) as server:
        answer = service(narrator(server)).answer(ask("why does checkout call fx?"))
    assert any(reason in note for note in answer.degraded), answer.degraded
    assert answer.packet.edges
    assert not answer.abstained


def test_a_model_that_hangs_is_given_up() -> None:
    with (
        FakeAnthropic(Fault(text=GOOD, after=2, pause_s=3.0)) as server,
        pytest.raises(ModelUnavailable, match=r"did not answer|took longer|broke"),
    ):
        list(narrator(server, timeout_s=0.4).narrate(packet("why does checkout call fx?")))


def test_no_server_is_said() -> None:
    model = AnthropicNarrator(api_key="key", model="m", base_url="http://127.0.0.1:9", retries=0, timeout_s=2.0)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        list(model.narrate(packet("why does checkout call fx?")))


def test_overload_is_retried() -> None:
    with FakeAnthropic([Fault(529, "overloaded_error", retry_after="0"), GOOD]) as server:
        assert "".join(narrator(server, retries=2).narrate(packet("why does checkout call fx?"))) == GOOD
        assert len(server.requests) == 2


def test_nothing_to_cite_calls_no_model() -> None:
    with FakeAnthropic("anything") as server:
        answer = service(narrator(server)).answer(ask("who calls zorblax?"))
        assert (answer.abstained, answer.abstain_reason, server.requests) == (True, "unknown_name", [])


def test_evidence_is_delimited_by_a_word_that_it_cannot_hold() -> None:
    found = packet("What is the retry limit of a failed payment?")
    message = user_message(found, 48_000)
    mark = boundary(found)
    assert message.count(f"</evidence-{mark}>") == len(found.edges) + len(found.passages)
    assert all(mark not in p.hit.passage.text for p in found.passages)
    assert boundary(found) == mark
    # Who wrote a passage is said beside it: what a model wrote weighs less.
    told = {
        p.marker: f'marker="[{p.marker}]" kind="passage" provenance="{p.hit.passage.tier.value}"'
        for p in found.passages
    }
    assert told and all(head in message for head in told.values())
    assert len(user_message(found, 2_000)) < 4_500
