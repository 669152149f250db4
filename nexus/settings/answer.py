"""Grounded answers."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field, SecretStr

from nexus.settings.base import Duration, Section


class AnswerSettings(Section):
    """Who puts evidence into words, and how much of it."""

    narrator: str = Field(
        "auto",
        pattern="^(auto|template|anthropic)$",
        description="`template`: no model; `anthropic`: a model; `auto`: a model where a key is set.",
    )
    api_key: SecretStr | None = Field(None, description="Key of the Anthropic API.")
    base_url: str = Field("", description="Base URL of the Anthropic API, for a gateway; empty = the public one.")
    model: str = Field("claude-sonnet-5-5", description="Model that narrates.")
    timeout: Duration = Field(timedelta(seconds=60), description="Longest time that the model may take for an answer.")
    retries: int = Field(
        2, ge=0, le=10, description="Attempts after the first, where the model is overloaded or does not answer."
    )
    max_tokens: int = Field(1024, ge=64, le=16384, description="Longest answer of the model, in tokens.")
    max_evidence_chars: int = Field(
        48_000, ge=2_000, description="Longest evidence that a model is given, in characters."
    )
    max_concurrent: int = Field(
        16, ge=1, le=1000, description="Answers in the making at once; above, 503 with a time to retry."
    )
    code_roots: tuple[Path, ...] = Field(
        (),
        description="Folders of source code to index (symbols, constants, limits, permission gates): shown beside documents that name them. INTERNAL at least.",
    )
    code_tenant: str = Field("default", description="Tenant that the code of those folders belongs to.")
