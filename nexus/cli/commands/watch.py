"""`nexus watch`: follow folders of documents."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from knowledge.watch import follow
from nexus.cli.options import Data, database_settings
from nexus.errors import ConfigError, NexusError
from nexus.ports.documents import IngestRequest
from nexus.wiring.process import runtime_beside
from nexus.wiring.provide.document_control import document_service


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    paths: Annotated[list[Path], typer.Argument(help="Folders to follow.")],
    namespace: Annotated[str, typer.Option(help="Namespace of the documents.")] = "default",
    tenant: Annotated[str, typer.Option(help="Tenant that the documents belong to.")] = "default",
    data: Data = None,
) -> None:
    """Ingest folders, then every change in them, until Ctrl-C. `nexus up --docs` does the same by itself."""
    roots = [path.resolve() for path in paths]
    missing = [f"{path}: no such folder" for path in roots if not path.is_dir()]
    if missing:
        raise ConfigError(missing)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with runtime_beside(database_settings(data), makes=True) as runtime:
        service = document_service(runtime, roots)

        def apply(path: Path) -> None:
            try:
                result = service.follow(IngestRequest(path, tenant, namespace))
            except NexusError as error:
                typer.echo(f"{path}: {error}", err=True)
                return
            if result:
                typer.echo(
                    f"{path}: indexed {result['indexed']}, removed {result['removed']}, failed {result['failed']}"
                )
            for problem in result.get("errors", ()):
                typer.echo(f"{problem['path']}:{problem['line']}: {problem['error']}", err=True)

        for root in roots:
            apply(root)

        def settle() -> None:
            service.refresh(tenant)
            service.follow_code(tenant, [])

        settle()
        follow(roots, stop, apply, settle)
