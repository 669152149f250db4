"""Commands, one a file: each module has COMMAND, a function that typer can take, or a typer app with sub-commands."""

from __future__ import annotations

import sys

import typer

from nexus.cli.exits import exit_code
from nexus.cli.lazy import Commands
from nexus.errors import ConfigError, NexusError
from nexus.wiring.allocator import keep_pages


def build() -> typer.Typer:
    """The command line, from the files of `commands/`."""
    app = typer.Typer(
        name="nexus",
        cls=Commands,
        help="Designed and observed architecture, side by side.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_begin)
    return app


def _begin() -> None:
    """What a command prints is its output alone; those that run for long set up logs of their own."""
    # Imported here: the list of commands needs no logs.
    from nexus.wiring.logs import quiet_logs

    quiet_logs()


def main() -> None:
    """Entry point. Errors of Nexus become one clear line on stderr and the documented exit code."""
    keep_pages()
    try:
        build()()
    except NexusError as error:
        problems = error.problems if isinstance(error, ConfigError) else (str(error),)
        for problem in problems:
            print(f"nexus: {problem}", file=sys.stderr)
        sys.exit(exit_code(error))
