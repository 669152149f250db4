"""`nexus reembed`: move an index to another embedding model."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from knowledge.embedding import PassageEmbedding
from nexus.cli.options import Data, Json, database_settings
from nexus.cli.progress import progress
from nexus.wiring.process import runtime_beside


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    tenant: Annotated[str, typer.Option(help="Tenant of the index.")] = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Embed the corpus with the configured model (NEXUS_KNOWLEDGE__EMBEDDER and the rest) as a new generation, then let it serve.

    The old generation serves all along. Safe to stop and to start again: what is embedded stays. A running service uses the new
    generation once it runs with the new configuration; until then it goes on with the old vectors.
    """
    with runtime_beside(database_settings(data)) as runtime, progress(shown=not as_json) as report:
        name, count = runtime.get(PassageEmbedding).move(tenant, report)
    print(
        json.dumps({"tenant": tenant, "generation": name, "vectors": count})
        if as_json
        else f"generation {name} serves ({count} vectors)"
    )
