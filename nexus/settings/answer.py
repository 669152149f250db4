"""Grounded answers."""

from __future__ import annotations

from nexus.settings.base import Section


class AnswerSettings(Section):
    """Grounded answers."""
