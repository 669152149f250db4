"""Documents, passages and the index."""

from __future__ import annotations

from nexus.settings.base import Section


class KnowledgeSettings(Section):
    """Documents, passages and the index."""
