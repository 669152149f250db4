"""Composing the agents' door over stdio."""

from __future__ import annotations

import os
from dataclasses import replace

from api.app import build_app
from api.context import ApiContext
from api.mcp_server import build_server, inside, remote
from nexus.model.principal import Principal
from nexus.settings import Settings
from nexus.store.principal import find_principal
from nexus.wiring.process import runtime_beside
from nexus.wiring.roles.api import LOCAL, LOCAL_HOSTS
from nexus.wiring.runtime import Runtime


def in_process(runtime: Runtime) -> ApiContext:
    """The API without a socket: nobody is local, every call brings a token."""

    def find(token: str) -> Principal | None:
        with runtime.database.connection() as connection:
            return find_principal(connection, token)

    return ApiContext(
        services=runtime,
        now=runtime.clock.now,
        find_principal=find,
        local_principal=None,
        max_body_bytes=runtime.settings.http.max_body_bytes,
    )


def at_this_machine(runtime: Runtime) -> ApiContext:
    """The API without a socket for the person who runs a command beside the database."""
    return replace(in_process(runtime), local_principal=LOCAL, local_hosts=LOCAL_HOSTS)


def run_stdio(settings: Settings, url: str) -> None:
    """Serve one client on standard input and output until it hangs up.

    Against the service at `url` where there is one, else on the database beside. The token is `NEXUS_MCP_TOKEN`; without one every call is a 401.
    """
    token = os.environ.get("NEXUS_MCP_TOKEN") or None
    if url:
        build_server(remote(url, token)).run("stdio")
        return
    with runtime_beside(settings) as runtime:
        build_server(inside(build_app(in_process(runtime)), token)).run("stdio")
