"""The agents' door over streamable HTTP, with the official client against a real socket."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from served_api import served

from api.app import build_app
from nexus.plugins import load_plugins
from nexus.testing.services import double_context

TOOLS = {
    "nexus_search",
    "nexus_answer",
    "nexus_graph",
    "nexus_suggest",
    "nexus_diff",
    "nexus_status",
    "nexus_supersede",
    "archon_claim_value",
    "archon_grade_authority",
    "nexus_why",
    "nexus_edge",
    "nexus_path",
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(build_app(double_context())) as address:
        yield address


@contextlib.asynccontextmanager
async def session(url: str, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=120) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def call(url: str, token: str, tool: str, arguments: dict[str, Any], mode: str = "auto") -> Any:
    async def run() -> Any:
        async with session(url, token, mode) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


def test_every_tool_is_there_with_schemas_and_instructions(url: str) -> None:
    async def run() -> Any:
        async with session(url, "internal") as client:
            return (await client.list_tools()).tools, client.instructions

    tools, instructions = anyio.run(run)
    assert {tool.name for tool in tools} == TOOLS == set(load_plugins("api.tools", "TOOL"))
    for tool in tools:
        assert tool.description, tool.name
        assert tool.output_schema, tool.name
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations is not None
        assert tool.annotations.destructive_hint is (tool.name == "nexus_supersede")
        assert tool.name in (instructions or ""), "the instructions speak of every tool"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_learns_why_checkout_calls_fx(url: str, mode: str) -> None:
    """At most three calls; here it takes two: the answer, then traces of it."""

    async def run() -> list[Any]:
        async with session(url, "internal", mode) as client:
            answer = await client.call_tool("nexus_why", {"source": "checkout", "target": "fx"})
            graph = await client.call_tool("nexus_graph", {"entity": answer.structured_content["edges"][0]["target"]})
            return [answer, graph]

    answer, graph = anyio.run(run)
    found = answer.structured_content
    assert not answer.is_error
    assert "POST /checkout" in found["answer"]
    assert "943 calls" in found["answer"]
    assert "docs/architecture.md:18" in found["answer"]
    assert found["unverified"] == []
    assert all(c["verified"] for c in found["citations"])
    assert found["edges"][0]["causes"][0] == "POST /checkout -> Convert (940)"
    assert json.loads(answer.content[0].text) == found
    assert {e["source"] for e in graph.structured_content["edges"]} == {"checkout"}


def test_an_argument_that_a_tool_does_not_have_is_refused(url: str) -> None:
    refused = call(url, "internal", "nexus_graph", {"entity": "checkout", "depht": 2, "x": 1})
    assert refused.is_error
    assert "nexus_graph has no argument depht, x; it has entity, " in refused.content[0].text
    none = call(url, "internal", "nexus_status", {"verbose": True})
    assert none.is_error
    assert "has no argument verbose" in none.content[0].text


def test_path_and_search(url: str) -> None:
    path = call(url, "internal", "nexus_path", {"source": "frontend", "target": "email"}).structured_content
    assert path["paths"] == [["frontend", "checkout", "kafka/order.created", "email"]]
    hits = call(url, "internal", "nexus_search", {"query": "items per order"}).structured_content
    assert hits["passages"][0]["uri"] == "docs/runbook.md"


def test_errors_are_the_apis_own(url: str) -> None:
    unknown = call(url, "internal", "nexus_graph", {"entity": "zorblax"})
    assert unknown.is_error
    assert "404 not_found" in unknown.content[0].text
    ambiguous = call(url, "internal", "nexus_graph", {"entity": "inventory"})
    assert "retail/inventory" in ambiguous.content[0].text
    for long in ("x" * 100_000, "a\0b"):
        refused = call(url, "internal", "nexus_path", {"source": "checkout", "target": "fx", "environment": long})
        assert refused.is_error
        assert "422 bad_question" in refused.content[0].text
    forbidden = call(url, "ingester", "nexus_answer", {"query": "who calls fx?"})
    assert "403 forbidden" in forbidden.content[0].text


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer nobody"}, {"Authorization": "Basic internal"}])
def test_without_a_valid_token_every_call_is_401(url: str, headers: dict[str, str]) -> None:
    for method in ("initialize", "tools/list", "tools/call"):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "nexus_status", "arguments": {}}}
        response = httpx.post(
            f"{url}/mcp", json=body, headers={"Accept": "application/json, text/event-stream", **headers}
        )
        assert response.status_code == 401
        assert response.headers["content-type"] == "application/problem+json"
    assert httpx.get(f"{url}/mcp", headers=headers).status_code == 401


def test_a_client_without_token_cannot_even_begin(url: str) -> None:
    async def run() -> None:
        async with Client(f"{url}/mcp") as client:
            await client.list_tools()

    with pytest.raises((MCPError, BaseExceptionGroup, httpx2.HTTPError)):
        anyio.run(run)


def test_tokens_see_what_they_may(url: str) -> None:
    secret = call(
        url, "internal", "nexus_answer", {"query": "Which orders are reviewed by hand above 9000 euros?"}
    ).structured_content
    assert "9000" not in json.dumps({k: v for k, v in secret.items() if k != "query"})
    assert (
        "9000"
        in call(url, "restricted", "nexus_answer", {"query": "Which orders are reviewed by hand?"}).structured_content[
            "answer"
        ]
    )
    foreign = call(url, "foreign", "nexus_answer", {"query": "who calls payment?"}).structured_content
    assert (foreign["abstained"], foreign["edges"], foreign["passages"]) == (True, [], [])
