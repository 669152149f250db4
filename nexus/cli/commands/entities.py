"""`nexus entities`: the registry of names that traces and documents share."""

from __future__ import annotations

import getpass
import json
from typing import Annotated

import typer

from api.routes.entities import decision_json, entity_json
from nexus.cli.options import Data, Json, database_settings
from nexus.cli.show import say
from nexus.model.document import Classification
from nexus.ports.entities import Action, Decision, EntityControl, EntityFilter
from nexus.wiring.process import runtime_beside

COMMAND = typer.Typer(help="List names of services, stores and topics, and decide about them.", no_args_is_help=True)

Tenant = Annotated[str, typer.Option(help="Tenant.")]
Why = Annotated[str, typer.Option("--why", help="The reason; kept with the decision.")]
Who = Annotated[
    str | None, typer.Option("--who", help="Who decides (default: the user of this machine).", show_default=False)
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind", help="Kind, where several things share the name: service, database, topic, external or api."
    ),
]
Name = Annotated[str, typer.Argument(help="Name, alias or rid.")]


@COMMAND.command("list")
def list_(
    state: Annotated[str, typer.Option(help="declared, accepted, proposed or rejected.")] = "",
    kind: Kind = "",
    text: Annotated[str, typer.Option("--text", help="A part of a name or alias.")] = "",
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List entities with their aliases, state and where they come from."""
    with runtime_beside(database_settings(data)) as runtime:
        found = runtime.get(EntityControl).entities(
            EntityFilter(tenant, Classification.RESTRICTED, (), state, kind, text)
        )
    if as_json:
        print(json.dumps({"entities": [entity_json(entity) for entity in found]}, ensure_ascii=False))
        return
    for entity in found:
        aliases = f"  also {', '.join(entity.aliases)}" if entity.aliases else ""
        say(f"{entity.name}  {entity.kind}  {entity.state.value}{aliases}")


@COMMAND.command()
def propose(tenant: Tenant = "default", data: Data = None, as_json: Json = False) -> None:
    """Show what waits for a decision: proposed names, and spellings that mean several things."""
    with runtime_beside(database_settings(data)) as runtime:
        control = runtime.get(EntityControl)
        wanted = EntityFilter(tenant, Classification.RESTRICTED, (), "proposed")
        proposed, ambiguous = control.entities(wanted), control.ambiguous(wanted)
    if as_json:
        print(
            json.dumps(
                {"proposed": [entity_json(entity) for entity in proposed], "ambiguous": ambiguous}, ensure_ascii=False
            )
        )
        return
    for entity in proposed:
        say(f"{entity.name}  {entity.kind}  from {', '.join(entity.evidence) or 'nothing'}")
    for item in ambiguous:
        say(f"{item['name']}  ambiguous: {', '.join(item['candidates'])}")


@COMMAND.command()
def history(
    name: Annotated[str, typer.Argument(help="Only decisions about this name.")] = "",
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show decisions, oldest first."""
    with runtime_beside(database_settings(data)) as runtime:
        found = runtime.get(EntityControl).decisions(tenant, name)
    if as_json:
        print(json.dumps({"decisions": [decision_json(decision) for decision in found]}, ensure_ascii=False))
        return
    for decision in found:
        say(
            f"{decision.at:%Y-%m-%d %H:%M}  {decision.action.value}  {decision.name}{f' {decision.other}' if decision.other else ''}  {decision.who}: {decision.why}"
        )


def _decide(
    action: Action,
    name: str,
    other: str,
    kind: str,
    who: str | None,
    why: str,
    tenant: str,
    data: Data,
    *,
    as_json: bool,
) -> None:
    decision = Decision(action, name, who or getpass.getuser(), why, kind, other)
    with runtime_beside(database_settings(data)) as runtime:
        result = runtime.get(EntityControl).decide(tenant, decision)
    entity = result["entity"]
    if as_json:
        print(json.dumps({**result, "entity": entity_json(entity) if entity is not None else None}, ensure_ascii=False))
        return
    say(
        f"decision {result['decision']}: {action.value} {name}{f' {other}' if other else ''}; {result['edges']} designed edges now"
    )


@COMMAND.command()
def accept(
    name: Name,
    why: Why,
    kind: Kind = "",
    who: Who = None,
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Accept a proposed name, or add one that nothing proposes."""
    _decide(Action.ACCEPT, name, "", kind, who, why, tenant, data, as_json=as_json)


@COMMAND.command()
def reject(
    name: Name,
    why: Why,
    kind: Kind = "",
    who: Who = None,
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Say that a name is no entity."""
    _decide(Action.REJECT, name, "", kind, who, why, tenant, data, as_json=as_json)


@COMMAND.command()
def merge(
    name: Name,
    into: Annotated[str, typer.Argument(help="The entity that stays.")],
    why: Why,
    kind: Kind = "",
    who: Who = None,
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Make NAME an alias of INTO; edges and history move with it."""
    _decide(Action.MERGE, name, into, kind, who, why, tenant, data, as_json=as_json)


@COMMAND.command()
def split(
    name: Name,
    alias: Annotated[str, typer.Argument(help="The alias that is to stand by itself.")],
    why: Why,
    kind: Kind = "",
    who: Who = None,
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Take an alias out of an entity; its edges move back."""
    _decide(Action.SPLIT, name, alias, kind, who, why, tenant, data, as_json=as_json)


@COMMAND.command()
def alias(
    name: Name,
    alias: Annotated[str, typer.Argument(help="The other spelling.")],
    why: Why,
    kind: Kind = "",
    who: Who = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the alias away instead.")] = False,
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Add another spelling of an entity."""
    _decide(Action.UNALIAS if remove else Action.ALIAS, name, alias, kind, who, why, tenant, data, as_json=as_json)
