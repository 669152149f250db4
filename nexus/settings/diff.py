"""Drift policy and schedule."""

from __future__ import annotations

from nexus.settings.base import Section


class DiffSettings(Section):
    """Drift policy and schedule."""
