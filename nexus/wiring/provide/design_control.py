"""Bringing claims up to date with the documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from designed.extractors.model_proposals import Ask
from designed.run import Refresh
from designed.traces import from_traces
from nexus.errors import ModelUnavailable
from nexus.model.entity import Entity
from nexus.plugins import load_plugins
from nexus.ports.designed import DesignControl
from nexus.ports.documents import DocumentReader
from nexus.store.observed_names import named
from nexus.wiring.runtime import Runtime


def _traces(runtime: Runtime) -> Callable[[str], Sequence[Entity]]:
    """Names that traces carry, unless the settings keep them apart."""
    if not runtime.settings.designed.propose_from_traces:
        return lambda _tenant: ()

    def names(tenant: str) -> Sequence[Entity]:
        with runtime.database.connection() as connection:
            found = named(connection, tenant)
        return from_traces(found.nodes, found.aliases, found.answered)

    return names


def _ask(model: str) -> Ask:
    """Asks a model of Anthropic's; the key is ANTHROPIC_API_KEY."""

    def ask(instructions: str, document: str) -> str:
        import anthropic

        try:
            answer = anthropic.Anthropic(max_retries=1, timeout=60.0).messages.create(
                model=model,
                max_tokens=4096,
                system=instructions,
                messages=[{"role": "user", "content": f"<document>\n{document}\n</document>"}],
            )
        except anthropic.AnthropicError as error:
            raise ModelUnavailable(f"the model that proposes claims does not answer: {error}") from error
        return "".join(block.text for block in answer.content if block.type == "text")

    return ask


def _control(runtime: Runtime) -> Refresh:
    settings = runtime.settings.designed
    ask = _ask(settings.model) if settings.model_proposals else None
    readers = load_plugins("designed.readers", "READER")
    return Refresh(
        runtime.database,
        runtime.get(DocumentReader),
        readers,
        runtime.clock,
        _traces(runtime),
        settings.workers,
        ask=ask,
    )


PROVIDE = (DesignControl, _control)
