"""Commands, one a file: each module has COMMAND, a function that typer can take, or a typer app with sub-commands."""

from __future__ import annotations

import sys

import typer

from nexus.cli.exits import exit_code
from nexus.errors import ConfigError, NexusError
from nexus.plugins import load_plugin, plugin_names
from nexus.wiring.logs import quiet_logs

COMMANDS = "nexus.cli.commands"


def build(wanted: str = "") -> typer.Typer:
    """The command line, from the files of `commands/`: all of it, or only the command that is `wanted`, for a fast start."""
    app = typer.Typer(
        name="nexus",
        help="Designed and observed architecture, side by side.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    names = {module.replace("_", "-"): module for module in plugin_names(COMMANDS)}
    for name, module in names.items():
        if wanted in names and name != wanted:
            continue
        command = load_plugin(COMMANDS, module, "COMMAND")
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    # What a command prints is its output alone; those that run for long set up logs of their own. (Without a callback typer would drop the name of a single command.)
    app.callback()(_begin)
    return app


def _begin() -> None:
    quiet_logs()


def main() -> None:
    """Entry point. Errors of Nexus become one clear line on stderr and the documented exit code."""
    try:
        build(sys.argv[1] if len(sys.argv) > 1 else "")()
    except NexusError as error:
        problems = error.problems if isinstance(error, ConfigError) else (str(error),)
        for problem in problems:
            print(f"nexus: {problem}", file=sys.stderr)
        sys.exit(exit_code(error))
