"""The Slack bot."""

from __future__ import annotations

from nexus.settings.base import Section


class SlackSettings(Section):
    """The Slack bot."""
