"""`nexus finding`: what people decide about drift findings."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated

import typer

from nexus.cli.options import Data, Json
from nexus.model.document import Classification
from nexus.ports.drift import FindingFilter

COMMAND = typer.Typer(help="Acknowledge, suppress, resolve or reopen drift findings.", no_args_is_help=True)

Fingerprint = Annotated[str, typer.Argument(help="Fingerprint of the finding, from `nexus diff --format json`.")]
Reason = Annotated[str, typer.Option(help="Why.", show_default=False)]
Owner = Annotated[str, typer.Option(help="Who looks after it.", show_default=False)]
Tenant = Annotated[str, typer.Option(help="Tenant (on the database).")]


def _steer(
    fingerprint: str,
    action: str,
    reason: str,
    owner: str,
    expires: datetime | None,
    tenant: str,
    data: Data,
    *,
    as_json: bool,
) -> None:
    from nexus.cli.drift_source import source

    at = None if expires is None else (expires if expires.tzinfo else expires.replace(tzinfo=UTC)).astimezone(UTC)
    with source(data, FindingFilter(tenant, Classification.RESTRICTED)) as found:
        state = found.steer(fingerprint, action, reason, owner, at)
    print(json.dumps({"fingerprint": fingerprint, "state": state}) if as_json else state)


@COMMAND.command()
def acknowledge(
    fingerprint: Fingerprint,
    reason: Reason = "",
    owner: Owner = "",
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Note that somebody has taken it on; it stays in reports, and fails gates."""
    _steer(fingerprint, "acknowledge", reason, owner, None, tenant, data, as_json=as_json)


@COMMAND.command()
def suppress(
    fingerprint: Fingerprint,
    reason: Annotated[str, typer.Option(help="Why it is accepted.")],
    owner: Annotated[str, typer.Option(help="Who accepts it.")],
    expires: Annotated[datetime, typer.Option(help="Until when, at most a year.")],
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Accept it for a while: it fails no gate until it expires."""
    _steer(fingerprint, "suppress", reason, owner, expires, tenant, data, as_json=as_json)


@COMMAND.command()
def resolve(
    fingerprint: Fingerprint,
    reason: Reason = "",
    owner: Owner = "",
    tenant: Tenant = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Say that it is done; new evidence reopens it."""
    _steer(fingerprint, "resolve", reason, owner, None, tenant, data, as_json=as_json)


@COMMAND.command()
def reopen(fingerprint: Fingerprint, tenant: Tenant = "default", data: Data = None, as_json: Json = False) -> None:
    """Take a decision back."""
    _steer(fingerprint, "reopen", "", "", None, tenant, data, as_json=as_json)
