"""The list of commands is made from their source: it says what they themselves say, and imports none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer.main
from typer.testing import CliRunner

from nexus.cli import build
from nexus.cli.lazy import COMMANDS, described
from nexus.errors import InvariantBroken
from nexus.plugins import plugin_names


@pytest.mark.parametrize("module", plugin_names(COMMANDS))
def test_a_command_is_listed_with_what_it_says_of_itself(module: str) -> None:
    listed = typer.main.get_command(build()).commands[module.replace("_", "-")]  # type: ignore[attr-defined]
    loaded = listed.loaded()
    assert listed.help == loaded.help
    assert listed.name == loaded.name


def test_the_list_imports_no_command_and_nothing_that_they_need() -> None:
    code = (
        "import sys; from nexus.cli import main\n"
        "sys.argv[1:] = ['--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('nexus.cli.commands.') or name in {'polars', 'psycopg', 'fastapi', 'structlog', 'pydantic'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for module in plugin_names(COMMANDS):
        assert f" {module.replace('_', '-')} " in done.stdout


def test_a_name_that_is_no_command_gets_the_nearest() -> None:
    done = CliRunner().invoke(build(), ["statsu"])
    assert done.exit_code == 2
    assert "Did you mean 'status'?" in done.output


def test_a_command_that_says_nothing_is_a_bug() -> None:
    with pytest.raises(InvariantBroken):
        described("__init__")
