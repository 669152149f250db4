"""`nexus auth`: tokens."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nexus.cli.options import Data, Json, database_settings
from nexus.errors import BadQuestion, NotFound
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.store.principal import create_principal, list_principals, revoke_principal
from nexus.wiring.process import runtime_beside

COMMAND = typer.Typer(help="Create, list and revoke access tokens.", no_args_is_help=True)

Tenant = Annotated[str, typer.Option(help="Tenant of the token.")]


@COMMAND.command()
def create(
    name: Annotated[str, typer.Option(help="Who the token is for.")],
    clearance: Annotated[Classification, typer.Option(case_sensitive=False, help="What it may see.")],
    capability: Annotated[list[Capability], typer.Option(case_sensitive=False, help="What it may do (repeatable).")],
    namespace: Annotated[
        list[str] | None, typer.Option(help="Restrict to a namespace (repeatable).", show_default=False)
    ] = None,
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Create a token and print it once; it is valid at once, also in a service that runs."""
    try:
        principal = Principal(name, tenant, clearance, frozenset(capability), tuple(namespace or ()))
    except ValueError as error:
        raise BadQuestion(str(error)) from error
    with runtime_beside(database_settings(data), makes=True) as runtime, runtime.database.connection() as connection:
        token = create_principal(connection, principal)
    print(json.dumps({"name": name, "tenant": tenant, "token": token}) if as_json else token)


@COMMAND.command("list")
def list_(data: Data = None, as_json: Json = False) -> None:
    """List principals, without tokens."""
    with runtime_beside(database_settings(data)) as runtime, runtime.database.connection() as connection:
        rows = list_principals(connection)
    if as_json:
        print(
            json.dumps(
                [
                    {
                        "name": r.name,
                        "tenant": r.tenant,
                        "clearance": r.clearance,
                        "capabilities": r.capabilities,
                        "namespaces": r.namespaces,
                        "revoked": r.revoked_at is not None,
                    }
                    for r in rows
                ]
            )
        )
        return
    for row in rows:
        print(
            f"{row.tenant}/{row.name}  {row.clearance}  {','.join(row.capabilities)}{'  revoked' if row.revoked_at else ''}"
        )


@COMMAND.command()
def revoke(
    name: Annotated[str, typer.Option(help="Whose tokens to revoke.")],
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Revoke every token of a name."""
    with runtime_beside(database_settings(data)) as runtime, runtime.database.connection() as connection:
        count = revoke_principal(connection, name, tenant)
    if not count:
        raise NotFound(f"no token of {tenant}/{name}")
    print(json.dumps({"name": name, "tenant": tenant, "revoked": count}) if as_json else f"revoked {count}")
