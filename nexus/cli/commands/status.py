"""`nexus status`: how a running service is doing."""

from __future__ import annotations

import json
import os
from typing import Any

import httpx
import typer

from nexus.cli.exits import UNAVAILABLE
from nexus.cli.options import Data, Json, service_url, settings_from
from nexus.cli.show import say
from nexus.errors import StoreUnavailable, Unauthenticated

TIMEOUT_S = 30.0


def COMMAND(data: Data = None, as_json: Json = False) -> None:  # noqa: N802  # the plugin constant of a command file
    """Ask the service at NEXUS_API_URL (default: this machine's) with NEXUS_MCP_TOKEN where it is set.

    Exit 0: every source can be read. 2: no service answers, or a source is failing, with the reason.
    """
    body = _ask(service_url(data) or _own_url(data))
    if as_json:
        print(json.dumps(body, indent=2))
    else:
        say(_text(body))
    if any(source["state"] == "failing" for source in body["sources"]):
        raise typer.Exit(UNAVAILABLE)


def _own_url(data: Data) -> str:
    settings = settings_from(data)
    return f"{'https' if settings.http.tls_cert else 'http'}://{settings.http.address}"


def _ask(url: str) -> dict[str, Any]:
    token = os.environ.get("NEXUS_MCP_TOKEN")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        response = httpx.get(url.rstrip("/") + "/status", headers=headers, timeout=TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise StoreUnavailable(
            f"no service answers at {url}: {error}; start `nexus up`, or set NEXUS_API_URL"
        ) from error
    try:
        body = response.json()
    except ValueError as error:
        raise StoreUnavailable(f"{url} answers HTTP {response.status_code}, and not like Nexus") from error
    if response.status_code in {401, 403}:
        raise Unauthenticated(f"{body.get('detail', 'not allowed')} (NEXUS_MCP_TOKEN)")
    if response.status_code != 200 or "sources" not in body:
        raise StoreUnavailable(f"{url} answers HTTP {response.status_code}: {body.get('detail', '')}")
    return dict(body)


def _text(body: dict[str, Any]) -> str:
    database = body["database"]
    lines = [
        f"nexus {body['version']}  tenant {body['tenant']}",
        f"database   {database['state']}  PostgreSQL {database['server_version']}, schema {database['schema']}",
    ]
    if body["observed"]:
        lines.append(
            "observed   "
            + "  ".join(
                f"{name} {value}" for name, value in body["observed"].items() if isinstance(value, str | int | float)
            )
        )
        lines += [f"           {sentence}" for sentence in body["observed"].get("findings", ())]
    for source in body["sources"]:
        counts = f"{source['traces']} traces, {source['spans']} spans, read to {source['read_to'] or '-'}"
        lines.append(
            f"source     {source['name']}  {source['state']}{': ' + source['reason'] if source['reason'] else ''}  {counts}"
        )
        lines += [f"           {gap['state']}  {gap['from']} to {gap['to']}  {gap['reason']}" for gap in source["gaps"]]
    if body["documents"] is not None:
        counted = ", ".join(f"{count} {status}" for status, count in body["documents"]["documents"].items()) or "none"
        lines.append(f"documents  {counted}; {body['documents']['passages']} passages")
    if body["drift"] is not None:
        run = body["drift"]["last_run"]
        lines.append(f"drift      {'last run ' + run['generated_at'] if run else 'no run yet'}")
    return "\n".join(lines)
