"""`nexus generation`: index generations."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nexus.cli.options import Data, Json, database_settings
from nexus.errors import Conflict, NotFound
from nexus.store.vectors import drop_vectors, list_generations, serving_generation
from nexus.wiring.process import runtime_beside

COMMAND = typer.Typer(
    help="List index generations; drop the vectors of one that no longer serves.", no_args_is_help=True
)
Tenant = Annotated[str, typer.Option(help="Tenant of the index.")]


@COMMAND.command("list")
def list_(tenant: Tenant = "default", data: Data = None, as_json: Json = False) -> None:
    """Generations with model, dimension, and how much of the corpus each holds."""
    with runtime_beside(database_settings(data)) as runtime, runtime.database.connection() as connection:
        rows = list_generations(connection, tenant)
    if as_json:
        print(
            json.dumps(
                [
                    {
                        "name": row.name,
                        "model": row.model,
                        "dimension": row.dimension,
                        "form": row.form,
                        "declared_at": row.declared_at.isoformat(),
                        "serving": row.serving,
                        "segments_done": row.segments_done,
                        "segments": row.segments,
                    }
                    for row in rows
                ]
            )
        )
        return
    for row in rows:
        print(
            f"{row.name}  {row.model}  {row.dimension}  {row.segments_done}/{row.segments}{'  serving' if row.serving else ''}"
        )


@COMMAND.command()
def drop(
    name: Annotated[str, typer.Argument(help="The generation.")],
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Remove the vectors of a generation. Its declaration stays: generations are append-only."""
    with runtime_beside(database_settings(data)) as runtime, runtime.database.connection() as connection:
        serving = serving_generation(connection, tenant)
        if serving is not None and serving.name == name:
            raise Conflict(f"generation {name} serves; move the index to another first (`nexus reembed`)")
        if all(row.name != name for row in list_generations(connection, tenant)):
            raise NotFound(f"no generation {name}")
        count = drop_vectors(connection, tenant, name)
    print(json.dumps({"name": name, "dropped": count}) if as_json else f"dropped {count} vectors")
