"""The agents' door over stdio: `python -m nexus.mcp` with the official client, against a running service and without a token."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from served_api import served

from api.app import build_app
from nexus.testing.services import double_context


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(build_app(double_context())) as address:
        yield address


def talk(environment: dict[str, str], *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async def run() -> list[Any]:
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "nexus.mcp"], env=environment)
        async with Client(stdio_client(parameters)) as client:
            listed = await client.list_tools()
            return [listed.tools, *[await client.call_tool(name, arguments) for name, arguments in calls]]

    return anyio.run(run)


def test_an_agent_finds_the_reason_in_at_most_three_calls(url: str) -> None:
    tools, names, why = talk(
        {"NEXUS_API_URL": url, "NEXUS_MCP_TOKEN": "internal"},
        ("nexus_suggest", {"query": "currency"}),
        ("nexus_why", {"source": "checkout", "target": "currency-converter"}),
    )
    assert len(tools) == 12
    assert names.structured_content["entities"][0]["name"] == "fx"
    assert "POST /checkout triggers Convert (940 calls)" in why.structured_content["answer"]
    assert why.structured_content["unverified"] == []


def test_without_a_token_every_call_is_401(url: str) -> None:
    tools, status, answer = talk(
        {"NEXUS_API_URL": url}, ("nexus_status", {}), ("nexus_answer", {"query": "who calls fx?"})
    )
    assert len(tools) == 12
    for result in (status, answer):
        assert result.is_error
        assert "401 unauthenticated" in result.content[0].text
