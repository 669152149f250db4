"""Commands that are listed from their source, and imported only where one runs: `nexus --help` shall not load all that Nexus is."""

from __future__ import annotations

import ast
import importlib.util
from functools import cached_property
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from nexus.errors import InvariantBroken
from nexus.plugins import load_plugin, plugin_names

COMMANDS = "nexus.cli.commands"


class Commands(TyperGroup):
    """The files of `nexus/cli/commands/`, each a command of the file's name (`_` is written `-`)."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {module.replace("_", "-"): _Listed(module) for module in plugin_names(COMMANDS)}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the arguments name, imported, with the arguments that are its own."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed.loaded() if isinstance(listed, _Listed) else listed, rest


class _Listed(TyperCommand):
    """A command as the list of all shows it: its name, and what its source says that it does."""

    def __init__(self, module: str) -> None:
        self._module = module
        super().__init__(name=module.replace("_", "-"))
        del self.help  # An attribute of the instance would hide the property.

    @cached_property
    def help(self) -> str:  # type: ignore[override]  # read from the source when it is asked for
        """See `described`."""
        return described(self._module)

    def loaded(self) -> Any:
        """The command itself: of a function, or of an app with sub-commands."""
        command = load_plugin(COMMANDS, self._module, "COMMAND")
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=self.name)
        else:
            app.command(self.name)(command)
        return get_group(app).commands[str(self.name)]


def described(module: str) -> str:
    """The documentation of a command file's COMMAND: the docstring of the function, or `help=` of the app. InvariantBroken where it has none."""
    spec = importlib.util.find_spec(f"{COMMANDS}.{module}")
    source = spec.loader.get_source(spec.name) if spec and spec.loader else ""  # type: ignore[attr-defined]  # every loader of source files has it
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name="COMMAND") if text := ast.get_docstring(node):
                return text
            case (
                ast.Assign(targets=[ast.Name(id="COMMAND")], value=ast.Call(keywords=keywords))
                | ast.AnnAssign(target=ast.Name(id="COMMAND"), value=ast.Call(keywords=keywords))
            ):
                for keyword in keywords:
                    if keyword.arg == "help":
                        return str(ast.literal_eval(keyword.value))
    raise InvariantBroken(f"{COMMANDS}.{module} says nowhere what COMMAND does")
