"""`nexus serve`: chosen roles on a database server."""

from __future__ import annotations

from typing import Annotated

import typer

from nexus.cli.options import Data, settings_from
from nexus.wiring.logs import configure_logs
from nexus.wiring.process import known_roles, run_serve
from nexus.wiring.ready import announce


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    role: Annotated[
        list[str] | None,
        typer.Option(
            help="Role to run: api, diff, ingest, aggregate, poll, receive or slack (repeatable, or comma-separated; default: all).",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
) -> None:
    """Run roles against NEXUS_DATABASE__URL until SIGTERM. Any number of processes share one database, and none keeps what another needs.

    receive scales with the log on Kafka (NEXUS_LOG=kafka); on the local log it runs where aggregate runs, with NEXUS_OTLP__WORKERS processes.
    aggregate scales to as many processes as the topic has partitions, which the consumer group gives out; the local log has one.
    api scales behind any balancer, and asks aggregators through the database.
    diff, poll and ingest may run anywhere more than once: one at a time makes the runs, reads a source, reads a document.
    slack runs once.
    """
    configure_logs()
    names = [name for item in role or [] for name in item.split(",") if name]
    run_serve(settings_from(data), names or known_roles(), announce)
