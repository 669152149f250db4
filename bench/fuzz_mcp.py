"""Every tool with arguments that no agent should send: `make fuzz-mcp`.

Each argument in turn is of a wrong type, huge, nested, unprintable or a reference to nowhere, the others as they should be; some are missing, some unknown.
A tool answers or refuses, and says why: no traceback, no internal error, no silence. Prints one line a tool, and what was wrong.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from filled_api import EVERYTHING, filled_service
from mcp.client import Client

from api.mcp_server import build_server, inside

TIMEOUT_S = 120.0
# A value that a filled database knows, for arguments that are not in turn.
KNOWN = "checkout"
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        10**30,
        1.5,
        float("1e308"),
        "",
        " ",
        "\0",
        "a\0b",
        "x" * 100_000,
        "한글🙂" * 50,
        "%00",
        "*",
        "nan",
    ),
    *(
        "../../etc/passwd",
        "'; DROP TABLE entity;--",
        "<script>alert(1)</script>",
        "\x1b[31m",
        "2026-13-45",
        "9999-12-31T23:59:59Z",
    ),
    *([], ["a"], [[["a"]]], {}, {"a": {"b": [1]}}),
)
# What a tool must never say.
BUGS = ("traceback", "internal error", "invariant_broken", 'file "')


def cases(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Arguments of a tool: none, the needed ones, unknown ones, and each one odd."""
    needed = dict.fromkeys(schema.get("required", []), KNOWN)
    odd = [needed | {name: value} for name in schema.get("properties", {}) for value in ODD]
    return [{}, needed, needed | {"unknown": 1}, *odd]


async def tried(client: Client, name: str, arguments: dict[str, Any]) -> str:
    """What was wrong with the answer; "" where nothing was."""
    try:
        result = await asyncio.wait_for(client.call_tool(name, arguments), TIMEOUT_S)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is this call's result
        return f"{type(error).__name__}: {error}"
    said = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error and said.strip() in ("", f"Error executing tool {name}"):
        return "refused without a word"
    return next((said for bug in BUGS if bug in said.casefold()), "")


async def fuzz(app: Any) -> int:
    """Number of answers that were wrong, over every tool."""
    wrong = 0
    async with Client(build_server(inside(app, EVERYTHING.name))) as client:
        for tool in (await client.list_tools()).tools:
            began, found = time.process_time(), 0
            for arguments in cases(tool.input_schema):
                if problem := await tried(client, tool.name, arguments):
                    found += 1
                    print(f"  {str(arguments)[:120]} -> {problem[:300]}")
            wrong += found
            count = len(cases(tool.input_schema))
            print(f"{tool.name:24} {count:4} calls {time.process_time() - began:6.1f} s CPU  {found} wrong", flush=True)
    return wrong


def main() -> int:
    """Number of answers that were wrong."""
    with filled_service() as app:
        return asyncio.run(fuzz(app))


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
