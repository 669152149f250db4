"""Claims from documents."""

from __future__ import annotations

from pydantic import Field

from nexus.settings.base import Section


class DesignedSettings(Section):
    """Claims from documents."""

    workers: int = Field(
        2, ge=1, le=64, description="Processes that read a large batch of documents; small ones are read in place."
    )
    propose_from_traces: bool = Field(True, description="Let the names that traces carry propose entities.")
    model_proposals: bool = Field(
        False, description="Let a language model propose claims; only those whose quote stands in the text count."
    )
    model: str = Field(
        "claude-sonnet-4-5",
        description="The model that proposes claims, where `model_proposals` is on (ANTHROPIC_API_KEY).",
    )
