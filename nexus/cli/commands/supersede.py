"""`nexus supersede`: decisions about documents."""

from __future__ import annotations

import getpass
import json
from typing import Annotated

import typer

from nexus.cli.options import Data, Json, database_settings
from nexus.errors import BadQuestion
from nexus.model.document import Classification
from nexus.ports.curation import Curation, Decision
from nexus.wiring.process import runtime_beside


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    document: Annotated[str, typer.Argument(help="The document: rid, URI, path or title.")],
    by: Annotated[str | None, typer.Option(help="The document that takes its place.", show_default=False)] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take a supersession back.")] = False,
    hide: Annotated[bool, typer.Option("--hide", help="Serve the document no more.")] = False,
    restore: Annotated[bool, typer.Option("--restore", help="Serve a hidden document again.")] = False,
    why: Annotated[str, typer.Option(help="The reason; kept with the decision.")] = "",
    who: Annotated[
        str | None, typer.Option(help="Who decides (default: the user of this machine).", show_default=False)
    ] = None,
    tenant: Annotated[str, typer.Option(help="Tenant of the documents.")] = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Let one document take the place of another (`nexus supersede OLD --by NEW`); undo, hide, restore. Chains and cycles are refused."""
    if sum((by is not None, undo, hide, restore)) != 1:
        raise BadQuestion("give exactly one of --by NEW, --undo, --hide, --restore")
    with runtime_beside(database_settings(data)) as runtime:
        curation = runtime.get(Curation)
        # Whoever may open the database sees everything in it.
        decision = Decision(tenant, who or getpass.getuser(), why, Classification.RESTRICTED)
        rid = curation.find(tenant, decision.clearance, (), document)
        if by is not None:
            curation.supersede(decision, rid, curation.find(tenant, decision.clearance, (), by))
            done = "superseded"
        elif undo:
            curation.undo(decision, rid)
            done = "no longer superseded"
        elif hide:
            curation.hide(decision, rid)
            done = "hidden"
        else:
            curation.restore(decision, rid)
            done = "restored"
    print(json.dumps({"document": rid, "done": done}) if as_json else f"{document}: {done}")
