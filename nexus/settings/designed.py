"""Claims from documents."""

from __future__ import annotations

from nexus.settings.base import Section


class DesignedSettings(Section):
    """Claims from documents."""
