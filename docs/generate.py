"""Make the generated parts of `docs/reference/`: settings, commands and metrics. `make docs` runs it; a test compares."""

from __future__ import annotations

from pathlib import Path

import click
import typer.main

from diff.reference import findings_page
from nexus.cli import build
from nexus.settings import describe_settings
from nexus.telemetry import describe_metrics

REFERENCE = Path(__file__).parent / "reference"


def cell(text: str) -> str:
    """Text of a table cell."""
    return " ".join(text.split()).replace("|", "\\|")


def settings() -> str:
    """Every setting with its default."""
    rows = [
        f"| `{name}` | {f'`{cell(default)}`' if default else ''} | {cell(description)} |"
        for name, default, description in describe_settings()
    ]
    head = "# Settings\n\nEnvironment variables. An unknown `NEXUS_*` name is refused. Durations are ISO 8601 (`PT15M`) or seconds.\n\n"
    clients = (
        "\nFor clients: `NEXUS_API_URL` (where the API is) and `NEXUS_MCP_TOKEN` (the token that they send).\n\n"
        "What a command works on is what is named first of: `--url`, `--data`, `NEXUS_DATABASE__URL`, `NEXUS_API_URL`, the folder `.nexus`. "
        "Commands that change the database itself (`aside`, `auth`, `backup`, `entities`, `generation`, `ingest`, `migrate`, `otel-aggregate`, `reembed`, `supersede`, `tempo`, `watch`) "
        "cannot ask a service and say so (exit 78) where `NEXUS_API_URL` is what is named.\n"
    )
    return head + "| setting | default | meaning |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n" + clients


def metrics() -> str:
    """Every metric."""
    rows = [f"| `{name}` | {kind} | {cell(text)} |" for name, kind, text in describe_metrics()]
    return (
        "# Metrics\n\nAt `GET /metrics`, in the Prometheus text format.\n\n| metric | type | meaning |\n| --- | --- | --- |\n"
        + "\n".join(rows)
        + "\n"
    )


def _command(path: str, command: click.Command) -> list[str]:
    """One command: what it does, its arguments and options."""
    lines = [f"## `nexus {path}`", "", " ".join((command.help or "").split()), ""]
    rows = []
    for parameter in command.params:
        if parameter.name == "help":
            continue
        names = (
            f"`{parameter.name.upper()}`"
            if isinstance(parameter, click.Argument)
            else ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        )
        rows.append(f"| {names} | {cell(getattr(parameter, 'help', '') or '')} |")
    if rows:
        lines += ["| option | meaning |", "| --- | --- |", *rows, ""]
    return lines


def commands() -> str:
    """Every command with its options."""
    group = typer.main.get_command(build())
    lines = [
        "# Commands",
        "",
        "Exit codes: 0 done, 1 failed or drift found, 2 could not run, 3 undecided (`nexus diff`), 70 a bug, 75 in use, 78 configuration.",
        "",
    ]
    for name, listed in sorted(group.commands.items()):  # type: ignore[attr-defined]
        command = listed.loaded()
        below = getattr(command, "commands", None)
        for path, leaf in (
            [(f"{name} {sub}", found) for sub, found in sorted(below.items())] if below else [(name, command)]
        ):
            lines += _command(path, leaf)
    return "\n".join(lines).rstrip() + "\n"


def mcp() -> str:
    """Every tool of the agents' door with its arguments, and the instructions that agents get."""
    import asyncio

    from api.mcp_server import INSTRUCTIONS, build_server, remote

    tools = sorted(asyncio.run(build_server(remote("http://localhost", None)).list_tools()), key=lambda tool: tool.name)
    lines = [
        "# MCP tools",
        "",
        "How to connect an agent: [howto/agents.md](../howto/agents.md). Every tool returns structured content with an output schema.",
        "",
    ]
    for tool in tools:
        lines += [
            f"## `{tool.name}`",
            "",
            " ".join((tool.description or "").split()),
            "",
            "| argument | type | meaning |",
            "| --- | --- | --- |",
        ]
        needed = set(tool.input_schema.get("required", []))
        for name, field in tool.input_schema.get("properties", {}).items():
            kinds = [k.get("type", "enum") for k in field.get("anyOf", [field]) if k.get("type") != "null"]
            values = field.get("enum") or next((k["enum"] for k in field.get("anyOf", []) if "enum" in k), [])
            text = " ".join(
                part
                for part in (
                    field.get("description", ""),
                    f"One of {', '.join(values)}." if values else "",
                    "Required." if name in needed else "",
                )
                if part
            )
            lines.append(f"| `{name}` | {cell(' or '.join(kinds))} | {cell(text)} |")
        lines += [
            "",
            "Returns " + ", ".join(f"`{name}`" for name in (tool.output_schema or {}).get("properties", {})) + ".",
            "",
        ]
    return "\n".join([*lines, "## Instructions", "", "```text", INSTRUCTIONS, "```"]) + "\n"


PAGES = {
    "settings.md": settings,
    "commands.md": commands,
    "metrics.md": metrics,
    "findings.md": findings_page,
    "mcp.md": mcp,
}

if __name__ == "__main__":
    for file, make in PAGES.items():
        (REFERENCE / file).write_text(make(), encoding="utf-8")
