"""Commands, one a file: each module has COMMAND, a function that typer can take, or a typer app with sub-commands."""

from __future__ import annotations

import sys

import typer

from nexus.cli.exits import exit_code
from nexus.errors import ConfigError, NexusError
from nexus.plugins import load_plugins


def build() -> typer.Typer:
    """The whole command line, from the files of this folder."""
    app = typer.Typer(name="nexus", help="Designed and observed architecture, side by side.", no_args_is_help=True, pretty_exceptions_enable=False)
    for module, command in load_plugins("nexus.cli.commands", "COMMAND").items():
        name = module.replace("_", "-")
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def main() -> None:
    """Entry point. Errors of Nexus become one clear line on stderr and the documented exit code."""
    try:
        build()()
    except NexusError as error:
        problems = error.problems if isinstance(error, ConfigError) else (str(error),)
        for problem in problems:
            print(f"nexus: {problem}", file=sys.stderr)
        sys.exit(exit_code(error))
