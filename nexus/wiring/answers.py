"""Composing answers from the settings: what several providers share."""

from __future__ import annotations

import time

from answer.graphs import GraphService
from answer.narrators.template import TemplateNarrator
from answer.run import AnswerService
from answer.sources import Ports
from nexus.errors import ConfigError
from nexus.ports.answers import Narrator
from nexus.ports.code import CodeReader
from nexus.ports.designed import DesignedReader
from nexus.ports.drift import DriftReader
from nexus.ports.entities import EntityControl
from nexus.ports.observed import ObservedReader
from nexus.ports.search import Retriever
from nexus.wiring.runtime import Runtime


def ports(runtime: Runtime) -> Ports:
    """What answers are made from."""
    return Ports(
        runtime.get(Retriever),
        runtime.get(ObservedReader),
        runtime.get(DesignedReader),
        runtime.get(DriftReader),
        entities=runtime.get(EntityControl),
        code=runtime.get(CodeReader),
    )


def narrator(runtime: Runtime) -> Narrator:
    """The narrator of the settings. ConfigError where a model is asked for without a key."""
    settings = runtime.settings.answer
    key = settings.api_key.get_secret_value() if settings.api_key is not None else ""
    if settings.narrator == "anthropic" and not key:
        raise ConfigError("NEXUS_ANSWER__API_KEY: needed by NEXUS_ANSWER__NARRATOR=anthropic")
    if settings.narrator == "template" or not key:
        return TemplateNarrator()
    from answer.narrators.anthropic import AnthropicNarrator

    return AnthropicNarrator(
        api_key=key,
        model=settings.model,
        base_url=settings.base_url,
        timeout_s=settings.timeout.total_seconds(),
        retries=settings.retries,
        max_tokens=settings.max_tokens,
        max_evidence_chars=settings.max_evidence_chars,
        clock=time.monotonic,
    )


def answerer(runtime: Runtime) -> AnswerService:
    """Answers with one snapshot a packet."""
    return AnswerService(
        ports(runtime),
        narrator(runtime),
        runtime.clock.now,
        snapshot=runtime.database.snapshot,
        elapsed_ms=lambda: time.monotonic() * 1000,
        max_concurrent=runtime.settings.answer.max_concurrent,
    )


def graphs(runtime: Runtime) -> GraphService:
    """Neighbourhoods and paths with one snapshot each."""
    return GraphService(ports(runtime), snapshot=runtime.database.snapshot)
