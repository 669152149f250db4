"""The Slack bot."""

from __future__ import annotations

from pydantic import Field, SecretStr

from nexus.settings.base import Section


class SlackSettings(Section):
    """The bot runs where both tokens are set. It reads as the principal given here: a channel has no other clearance."""

    bot_token: SecretStr | None = Field(None, description="Bot token (xoxb-...).")
    app_token: SecretStr | None = Field(None, description="App-level token (xapp-...) for socket mode.")
    api_url: str = Field("https://slack.com/api/", description="Base URL of Slack's web API.")
    tenant: str = Field("default", description="Tenant whose data the bot answers from.")
    clearance: str = Field(
        "PUBLIC",
        pattern="^(PUBLIC|INTERNAL|RESTRICTED)$",
        description="What the bot may show; everybody in its channels can read it.",
    )
    namespaces: tuple[str, ...] = Field((), description="Document namespaces that the bot may read; empty = all.")
    digest_channel: str = Field("", description="Channel for one drift digest a run; empty = none.")
    page_url: str = Field("", description="Base URL of the pages, for links in messages.")
