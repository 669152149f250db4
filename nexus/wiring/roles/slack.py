"""The Slack role: runs where both tokens are set."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import structlog

from nexus.errors import ConfigError, NexusError
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.ports.answers import Answerer
from nexus.ports.drift import DriftReader, FindingFilter, Report
from nexus.wiring.runtime import Runtime

if TYPE_CHECKING:
    from slack_bolt.adapter.socket_mode import SocketModeHandler

DIGEST_EVERY_S = 30.0
log = structlog.get_logger("nexus.slack")


class SlackRole:
    """One connection in socket mode, and a look for new drift runs."""

    name = "slack"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._handler: SocketModeHandler | None = None
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        """Connect. ConfigError where Slack refuses the tokens."""
        await asyncio.to_thread(self._connect)

    def _connect(self) -> None:
        from slack_bolt.adapter.socket_mode import SocketModeHandler
        from slack_sdk.errors import SlackClientError

        from api.slack.bot import Bot, BotOptions, make_app

        settings = self._runtime.settings.slack
        assert settings.bot_token is not None
        assert settings.app_token is not None
        self._reader = Principal(
            "slack",
            settings.tenant,
            Classification(settings.clearance),
            frozenset({Capability.READ}),
            settings.namespaces,
        )
        self._bot = Bot(self._runtime.get(Answerer), BotOptions(self._reader, settings.page_url))
        app = make_app(self._bot, settings.bot_token.get_secret_value(), settings.api_url)
        self._client = app.client
        self._handler = SocketModeHandler(app, settings.app_token.get_secret_value(), web_client=app.client)
        try:
            self._handler.connect()  # type: ignore[no-untyped-call]  # bolt's
        except SlackClientError as error:
            raise ConfigError(f"NEXUS_SLACK__APP_TOKEN: Slack does not open a connection: {error}") from error

    async def run(self) -> None:
        """Post one digest a run, until stopped."""
        channel = self._runtime.settings.slack.digest_channel
        last: str | None = None
        while not self._stopping.is_set():
            if channel:
                last = await asyncio.to_thread(self._post_new, channel, last)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DIGEST_EVERY_S):
                    await self._stopping.wait()

    def _report(self) -> Report | None:
        return self._runtime.get(DriftReader).report(
            FindingFilter(self._reader.tenant, self._reader.clearance, self._reader.namespaces, limit=200)
        )

    def _post_new(self, channel: str, last: str | None) -> str | None:
        """Post the newest run where it is another than the last; the run that stands now. The first that is seen (`last` is None) was there before."""
        from slack_sdk.errors import SlackClientError

        try:
            report = self._report()
            if report is None:
                return last or ""
            if last is not None and report.run.id != last:
                self._bot.digest(self._client, channel, report)
        except (NexusError, SlackClientError, OSError) as error:
            # Tried again at the next look.
            log.warning("slack_digest_failed", error=type(error).__name__)
            return last
        return str(report.run.id)

    async def stop(self) -> None:
        """Close the connection."""
        self._stopping.set()
        if self._handler is not None:
            await asyncio.to_thread(self._handler.close)


def BUILD(runtime: Runtime) -> SlackRole | None:  # noqa: N802  # the plugin constant of a role file
    """The Slack role, where it is configured."""
    settings = runtime.settings.slack
    if settings.bot_token is None and settings.app_token is None:
        return None
    if settings.bot_token is None or settings.app_token is None:
        raise ConfigError("NEXUS_SLACK__BOT_TOKEN and NEXUS_SLACK__APP_TOKEN: both are needed")
    return SlackRole(runtime)
