"""The Slack bot against a local Slack: threads, limits, outcomes, digest."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from slack_sdk import WebClient
from waiting import PATIENCE_S, until

from api.slack.blocks import MAX_BLOCKS, MAX_SECTION, _parts, answer_blocks, cut, digest_blocks, escape, section
from api.slack.bot import Bot, BotOptions
from nexus.errors import ConfigError, ModelUnavailable, StoreUnavailable
from nexus.model.document import Classification
from nexus.model.finding import RunInfo, State
from nexus.model.principal import Principal
from nexus.ports.answers import Packet
from nexus.ports.drift import DriftReader, Report
from nexus.settings import load_settings
from nexus.testing.answering import ask, service
from nexus.testing.fake_slack import BOT, FakeSlack
from nexus.testing.services import DoubleServices
from nexus.testing.shop import FINDINGS, NOW, TENANT
from nexus.wiring.roles.slack import BUILD, SlackRole
from nexus.wiring.runtime import Runtime

READER = Principal("slack", TENANT, Classification.INTERNAL, frozenset())


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        yield fake


def client(slack: FakeSlack) -> WebClient:
    return WebClient(token="xoxb-1", base_url=slack.api_url)


def bot(**given: Any) -> Bot:
    return Bot(given.get("answerer") or service(), BotOptions(given.get("reader", READER), "https://nexus.example"))


def mention(text: str, ts: str = "1.1", **given: str) -> dict[str, Any]:
    return {"type": "app_mention", "channel": "C1", "user": "U1", "ts": ts, "text": f"<@{BOT}> {text}", **given}


def test_an_answer_comes_in_the_thread_with_sources_edges_and_confidence(slack: FakeSlack) -> None:
    assert bot().handle(mention("why does checkout call fx?"), "E1", client(slack)) == "answered"
    posted = slack.posted[0]
    assert (posted["channel"], posted["thread_ts"]) == ("C1", "1.1")
    shown = str(posted["blocks"])
    assert "943 calls" in shown
    assert "[E1] checkout → fx · 943, 5 errors" in shown
    assert "docs/architecture.md:18" in shown
    assert "confidence 0.9" in shown


def test_outcomes(slack: FakeSlack) -> None:
    made = bot()
    assert made.handle(mention("who calls zorblax?"), "E1", client(slack)) == "abstained"
    assert "I do not know that name" in str(slack.posted[-1]["blocks"])
    assert made.handle(mention("inventory를 누가 호출해?"), "E2", client(slack)) == "abstained"
    assert "어느 것을" in str(slack.posted[-1]["blocks"])
    assert made.handle(mention(""), "E3", client(slack)) == "help"
    assert made.handle(mention("who calls fx?"), "E2", client(slack)) == "ignored", "delivered again"
    assert made.handle({**mention("who calls fx?"), "bot_id": "B9"}, "E4", client(slack)) == "ignored"

    class Failing:
        name = "failing"

        def narrate(self, packet: Packet) -> Iterator[str]:
            raise ModelUnavailable("the model is overloaded")
            yield ""

    assert bot(answerer=service(Failing())).handle(mention("who calls fx?"), "E5", client(slack)) == "failed"
    assert "the model is overloaded" in str(slack.posted[-1]["blocks"])
    assert "[E1] checkout → fx" in str(slack.posted[-1]["blocks"])

    class Down:
        def answer(self, _: object) -> object:
            raise StoreUnavailable("PostgreSQL does not answer <!channel>")

    assert bot(answerer=Down()).handle(mention("who calls fx?"), "E6", client(slack)) == "failed"
    assert "try again" in slack.posted[-1]["text"]
    assert "<!channel>" not in str(slack.posted[-1])

    class Lying:
        name = "lying"

        def narrate(self, packet: Packet) -> Iterator[str]:
            yield "checkout calls fx 77 times [E1]."

    assert bot(answerer=service(Lying())).handle(mention("who calls fx?"), "E7", client(slack)) == "partly"
    assert "Not verified" in str(slack.posted[-1]["blocks"])


def test_a_thread_is_a_conversation(slack: FakeSlack) -> None:
    slack.threads["1.1"] = [
        {"ts": "1.1", "user": "U1", "text": f"<@{BOT}> who calls fx?"},
        {"ts": "1.2", "bot_id": "B1", "text": "fx is used by checkout [E1]."},
        {"ts": "1.3", "user": "U1", "text": f"<@{BOT}> how is it doing?"},
    ]
    assert bot().handle(mention("how is it doing?", ts="1.3", thread_ts="1.1"), "E1", client(slack)) == "answered"
    assert slack.posted[0]["thread_ts"] == "1.1"
    assert "checkout calls fx" in str(slack.posted[0]["blocks"])


def test_the_bot_shows_what_its_clearance_allows(slack: FakeSlack) -> None:
    public = replace(READER, clearance=Classification.PUBLIC)
    bot(reader=public).handle(mention("How are refunds handled?"), "E1", client(slack))
    assert "payments team" not in str(slack.posted[0])


def test_nothing_in_a_text_can_mention_or_link() -> None:
    assert escape("<!channel> <@U1> & *bold*") == "&lt;!channel&gt; &lt;@U1&gt; &amp; \u200b*bold\u200b*"
    assert cut("x" * 10 + "&amp;", 14).endswith(" …")
    assert "&" not in cut("x" * 10 + "&amp;", 14)
    assert _parts("x" * 8 + "&amp;" * 3, 10) == ["x" * 8, "&amp;&amp;", "&amp;"]
    # A name of a host or channel in plain text becomes no link either.
    assert section("see http://x.example and #general")["text"]["verbatim"] is True


def test_a_long_answer_stays_inside_the_limits(slack: FakeSlack) -> None:
    class Endless:
        name = "endless"

        def narrate(self, packet: Packet) -> Iterator[str]:
            for _ in range(900):
                yield "checkout calls fx 943 times, which nobody doubts & everybody <knows> [E1].\n"
            yield "y" * 9000

    answer = service(Endless()).answer(ask("who calls fx?"))
    text, blocks = answer_blocks(answer)
    assert len(blocks) <= MAX_BLOCKS
    assert all(len(b["text"]["text"]) <= MAX_SECTION for b in blocks if b["type"] == "section")
    client(slack).chat_postMessage(channel="C1", text=text, blocks=blocks)
    assert slack.posted


def test_refused_blocks_fall_back_to_words(slack: FakeSlack) -> None:
    slack.refuse["chat.postMessage"] = ["invalid_blocks"]
    assert bot().handle(mention("who calls fx?"), "E1", client(slack)) == "answered"
    assert slack.posted[0]["blocks"] is None
    assert "fx is used by checkout" in slack.posted[0]["text"]


def report(run: str = "r1") -> Report:
    info = RunInfo(run, NOW, NOW, "prod", "rev", "conf", NOW)
    return Report(
        info, {"confirmed": 1, "doc_only": 1, "observed_only": 1, "conflict": 0, "undecided": 0}, {}, tuple(FINDINGS)
    )


def test_a_digest_shows_what_asks_for_attention() -> None:
    text, blocks = digest_blocks(report(), "https://nexus.example")
    assert (
        text
        == "Drift 2026-01-15 – 2026-01-15 · prod: confirmed 1, doc_only 1, observed_only 1, conflict 0, undecided 0"
    )
    shown = str(blocks)
    assert "https://nexus.example/#drift?finding=f-shipping" in shown
    assert "checkout calls fx as documented" not in shown
    settled = replace(report(), findings=tuple(replace(f, state=State.SUPPRESSED) for f in FINDINGS))
    assert len(digest_blocks(settled)[1]) == 2


class Drift:
    """A reader whose newest run can be changed."""

    def __init__(self) -> None:
        self.newest = report("r1")
        self.read = 0

    def report(self, _: object) -> Report:
        found = self.newest
        self.read += 1
        if self.read == 1:
            raise StoreUnavailable("PostgreSQL does not answer yet")
        return found


def test_the_role_listens_in_socket_mode_and_posts_one_digest_a_run(
    slack: FakeSlack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drift = Drift()
    settings = load_settings(
        {
            "data": tmp_path,
            "slack": {
                "bot_token": "xoxb-1",
                "app_token": "xapp-1",
                "api_url": slack.api_url,
                "clearance": "INTERNAL",
                "digest_channel": "CDRIFT",
            },
        }
    )
    services = DoubleServices({DriftReader: drift})
    runtime = Runtime(settings, database=None)  # type: ignore[arg-type]
    monkeypatch.setattr(Runtime, "get", lambda _, port: services.get(port))
    monkeypatch.setattr("nexus.wiring.roles.slack.DIGEST_EVERY_S", 0.1)
    role = BUILD(runtime)
    assert isinstance(role, SlackRole)

    async def life() -> None:
        await role.start()
        running = asyncio.create_task(role.run())
        await asyncio.to_thread(slack.connected.wait, PATIENCE_S)
        slack.event("env-1", mention("who calls payment?"), "Ev1")
        slack.event(
            "env-2",
            {
                "type": "message",
                "channel_type": "im",
                "channel": "D1",
                "user": "U1",
                "ts": "2.1",
                "text": "결제 서비스는 누가 호출하나요?",
            },
            "Ev2",
        )
        slack.event(
            "env-3",
            {
                "type": "message",
                "channel_type": "channel",
                "channel": "C1",
                "user": "U1",
                "ts": "3.1",
                "text": "just talking",
            },
            "Ev3",
        )
        await asyncio.to_thread(
            until, lambda: len(slack.posted) >= 2 and len(slack.acknowledged) >= 3 and drift.read > 1
        )
        drift.newest = report("r2")
        await asyncio.to_thread(until, lambda: any(p["channel"] == "CDRIFT" for p in slack.posted))
        again = drift.read
        await asyncio.to_thread(until, lambda: drift.read > again + 2)
        await role.stop()
        await running

    asyncio.run(life())
    assert sorted(p["channel"] for p in slack.posted) == ["C1", "CDRIFT", "D1"]
    assert {"env-1", "env-2", "env-3"} <= set(slack.acknowledged)


def test_the_role_is_absent_without_tokens_and_complains_about_half_of_them(tmp_path: Path) -> None:
    assert BUILD(Runtime(load_settings({"data": tmp_path}), database=None)) is None  # type: ignore[arg-type]
    half = Runtime(load_settings({"data": tmp_path, "slack": {"bot_token": "xoxb-1"}}), database=None)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="both are needed"):
        BUILD(half)
