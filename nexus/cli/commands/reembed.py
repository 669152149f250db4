"""`nexus reembed`: move an index to another embedding model."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from knowledge.embedding import PassageEmbedding
from nexus.cli.options import Data, Json, settings_from
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
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        runtime_beside(settings_from(data)) as runtime,
        Progress(*columns, console=Console(stderr=True), disable=as_json or not sys.stderr.isatty()) as bar,
    ):
        task = bar.add_task("vectors", total=None)
        name, count = runtime.get(PassageEmbedding).move(
            tenant, lambda done, total, text: bar.update(task, completed=done, total=total, description=text)
        )
    print(
        json.dumps({"tenant": tenant, "generation": name, "vectors": count})
        if as_json
        else f"generation {name} serves ({count} vectors)"
    )
