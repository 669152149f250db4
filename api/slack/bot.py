"""Events of Slack to answers in their thread."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt import App
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler

from api.slack.blocks import answer_blocks, digest_blocks, escape, outcome, section
from nexus.errors import NexusError
from nexus.model.principal import Principal
from nexus.ports.answers import Answerer, AnswerRequest
from nexus.ports.drift import Report

log = structlog.get_logger("nexus.slack")
MENTION = re.compile(r"<@[A-Z0-9]+(?:\|[^>]*)?>")
# Events that Slack delivers again because an acknowledgement came late.
REMEMBERED = 2_000
MAX_TURNS = 6
HELP = (
    "Ask me about services, documents and traces, like “why does checkout call fx?” · “결제 서비스는 누가 호출하나요?”"
)


@dataclass(frozen=True, slots=True)
class BotOptions:
    """What the bot may show, and where links go."""

    reader: Principal
    page_url: str = ""


class Bot:
    """Answers as one fixed principal: a channel has no other clearance than the one given to the bot."""

    def __init__(self, answerer: Answerer, options: BotOptions) -> None:
        self._answerer, self._options = answerer, options
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def register(self, app: App) -> None:
        """Listen to mentions and direct messages."""
        app.event("app_mention")(self._on_event)
        app.event("message")(self._on_message)

    def _on_event(self, event: dict[str, Any], body: dict[str, Any], client: WebClient) -> None:
        self.handle(event, str(body.get("event_id", "")), client, me=_me(body))

    def _on_message(self, event: dict[str, Any], body: dict[str, Any], client: WebClient) -> None:
        if event.get("channel_type") == "im" and "subtype" not in event:
            self.handle(event, str(body.get("event_id", "")), client, me=_me(body))

    def handle(self, event: dict[str, Any], event_id: str, client: WebClient, *, me: str = "") -> str:
        """Answer one event in its thread. Returns the outcome: answered, partly, abstained, failed, help, ignored."""
        if (
            event.get("bot_id")
            or (me and event.get("user") == me)
            or self._again(event_id or f"{event.get('channel')}/{event.get('ts')}")
        ):
            return "ignored"
        channel, thread = str(event["channel"]), str(event.get("thread_ts") or event["ts"])
        question = _unescape(MENTION.sub(" ", str(event.get("text", "")))).strip()
        if not question:
            self._post(client, channel, thread, HELP, [section(HELP)])
            return "help"
        reader = self._options.reader
        history = self._history(client, channel, thread, str(event["ts"])) if event.get("thread_ts") else ()
        try:
            answer = self._answerer.answer(
                AnswerRequest(question[:4000], reader.tenant, reader.clearance, reader.namespaces, history=history)
            )
        except NexusError as error:
            text = escape(f"Not answered: {error}" if not error.retryable else f"Not answered now, try again: {error}")
            self._post(client, channel, thread, text, [section(text)])
            log.warning("slack_not_answered", code=error.code)
            return "failed"
        self._post(client, channel, thread, *answer_blocks(answer, self._options.page_url))
        return outcome(answer)

    def digest(self, client: WebClient, channel: str, report: Report) -> None:
        """One message about a drift run."""
        text, blocks = digest_blocks(report, self._options.page_url)
        client.chat_postMessage(channel=channel, text=text, blocks=blocks, unfurl_links=False, unfurl_media=False)

    def _post(self, client: WebClient, channel: str, thread: str, text: str, blocks: list[dict[str, Any]]) -> None:
        try:
            client.chat_postMessage(
                channel=channel, thread_ts=thread, text=text, blocks=blocks, unfurl_links=False, unfurl_media=False
            )
        except SlackApiError as error:
            log.warning("slack_refused", error=error.response.get("error"))
            if error.response.get("error") in {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"}:
                # The words alone are better than silence.
                client.chat_postMessage(
                    channel=channel, thread_ts=thread, text=text, unfurl_links=False, unfurl_media=False
                )

    def _again(self, key: str) -> bool:
        with self._lock:
            if key in self._seen:
                return True
            self._seen[key] = None
            while len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
            return False

    def _history(self, client: WebClient, channel: str, thread: str, before: str) -> tuple[tuple[str, str], ...]:
        """Questions of the thread so far with the bot's answers; none where Slack does not give it."""
        try:
            messages: list[dict[str, Any]] = client.conversations_replies(channel=channel, ts=thread, limit=50).get(
                "messages", []
            )
        except SlackApiError:
            return ()
        turns: list[tuple[str, str]] = []
        for message in messages:
            if message.get("ts") == before:
                break
            text = _unescape(MENTION.sub(" ", str(message.get("text", "")))).strip()
            if not message.get("bot_id"):
                turns.append((text, ""))
            elif turns:
                turns[-1] = (turns[-1][0], text)
        return tuple(turn for turn in turns if turn[0])[-MAX_TURNS:]


def _me(body: dict[str, Any]) -> str:
    return next((str(a.get("user_id", "")) for a in body.get("authorizations") or [] if a.get("is_bot")), "")


def _unescape(text: str) -> str:
    return (
        re.sub(r"<(?:[^|>]*\|)?([^>]*)>", r"\1", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    )


def make_app(bot: Bot, token: str, api_url: str, authorize: Callable[..., Any] | None = None) -> App:
    """A bolt application with the bot's listeners. Listeners run in bolt's threads; the acknowledgement does not wait for them."""
    client = WebClient(token=token, base_url=api_url, timeout=30)
    # Slack takes about one message a second in a channel, and says when it takes the next.
    client.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=3))
    given: dict[str, Any] = {"authorize": authorize} if authorize is not None else {"token": token}
    app = App(
        client=client,
        token_verification_enabled=False,
        request_verification_enabled=False,
        ignoring_self_events_enabled=True,
        **given,
    )
    bot.register(app)
    return app
