"""The shop, as tests of answers ask it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from answer.gather import gather
from answer.narrators.template import TemplateNarrator
from answer.run import AnswerService
from answer.sources import Ports
from nexus.model.document import Classification, Passage
from nexus.ports.answers import AnswerRequest, Narrator, Packet
from nexus.testing.readers import MemoryDesigned, MemoryDrift, MemoryObserved, MemoryRetriever
from nexus.testing.shop import DESIGNED, FINDINGS, NOW, OBSERVED, PASSAGES, TENANT, registry


def ports(*, passages: Sequence[Passage] = PASSAGES, **given: Any) -> Ports:
    """Readers over the shop; `given` replaces some."""
    made = Ports(
        MemoryRetriever(TENANT, passages),
        MemoryObserved(TENANT, OBSERVED),
        MemoryDesigned(TENANT, DESIGNED, registry()),
        MemoryDrift(TENANT, FINDINGS, NOW),
    )
    return replace(made, **given)


def service(narrator: Narrator | None = None, **given: Any) -> AnswerService:
    """Answers over the shop."""
    return AnswerService(ports(**given), narrator or TemplateNarrator(), lambda: NOW)


def ask(query: str, clearance: Classification = Classification.INTERNAL, **given: Any) -> AnswerRequest:
    """A question of a reader of the shop."""
    return AnswerRequest(query, given.pop("tenant", TENANT), clearance, **given)


def packet(query: str, **given: Any) -> Packet:
    """The evidence for a question."""
    return gather(ask(query, **given), ports(), NOW)[0]
