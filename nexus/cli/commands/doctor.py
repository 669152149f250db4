"""`nexus doctor`: what is wrong with a set-up, and what to do."""

from __future__ import annotations

import json
import os

import typer

from nexus.cli.doctor_checks import Finding, State, configuration, exit_of, report, text
from nexus.cli.options import Data, Json, settings_from
from nexus.errors import ConfigError


def COMMAND(data: Data = None, as_json: Json = False) -> None:  # noqa: N802  # the plugin constant of a command file
    """Look for common faults: configuration, data folder and disk, ports, database, clocks, TLS, and what senders and sources do wrong.

    Before a start it looks at this machine; beside a running service also at what that has seen (NEXUS_API_URL and NEXUS_MCP_TOKEN for one elsewhere).
    Changes nothing. Exit 0: all well. 1: problems. 2: something could not be checked.
    """
    try:
        settings = settings_from(data)
    except ConfigError as error:
        found = [
            *configuration(error.problems),
            Finding("other checks", State.SKIPPED, "not made: they need a valid configuration"),
        ]
    else:
        from nexus.cli.doctor_probe import look

        found = configuration(()) + look(
            settings, os.environ.get("NEXUS_API_URL") or "", os.environ.get("NEXUS_MCP_TOKEN") or ""
        )
    print(json.dumps(report(found), indent=2) if as_json else text(found))
    raise typer.Exit(exit_of(found))
