"""`query`, `why` and `graph` in a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import typer
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from api.app import build_app
from nexus.cli import reading
from nexus.cli.commands import graph, query, why
from nexus.errors import BadQuestion, Forbidden, NotFound
from nexus.testing.services import double_context

APP = build_app(double_context())


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    token = ["internal"]

    @contextmanager
    def fake(url: str | None, data: Any) -> Iterator[reading.Api]:
        del url, data
        yield reading.Api(TestClient(APP, headers={"Authorization": f"Bearer {token[0]}"}))

    for module in (graph, query, why):
        monkeypatch.setattr(module, "api", fake)
    app = typer.Typer(pretty_exceptions_enable=False)
    for module in (graph, query, why):
        app.command(module.__name__.rsplit(".", 1)[-1])(module.COMMAND)

    def call(*arguments: str, principal: str = "internal") -> Any:
        token[0] = principal
        return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})

    return call


def test_query_shows_answer_confidence_and_sources(run: Any) -> None:
    result = run("query", "why", "does", "checkout", "call", "fx?")
    assert result.exit_code == 0, result.output
    assert "943 calls, 5 errors" in result.output
    assert "confidence 0.9" in result.output
    assert "docs/architecture.md:18" in result.output
    body = json.loads(run("query", "who calls fx?", "--json").output)
    assert body["answer"].startswith("fx is used by checkout")


def test_abstention_is_no_failure(run: Any) -> None:
    result = run("query", "who calls zorblax?")
    assert result.exit_code == 0
    assert "unknown_name" in result.output


def test_why_speaks_both_languages(run: Any) -> None:
    assert "triggers Convert" in run("why", "checkout", "fx").output
    assert "원인이 되는 작업" in run("why", "checkout", "fx", "--language", "ko").output


def test_graph_and_paths(run: Any) -> None:
    result = run("graph", "checkout")
    assert "kafka/order.created" in result.output
    assert "docs/architecture.md:18" in result.output
    assert "frontend -> checkout -> kafka/order.created -> email" in run("graph", "frontend", "--to", "email").output
    assert "no path" in run("graph", "email", "--to", "frontend").output
    assert json.loads(run("graph", "fx", "--json").output)["entity"]["rid"] == "e-fx"


def test_errors_keep_their_kind(run: Any) -> None:
    assert isinstance(run("graph", "zorblax").exception, NotFound)
    assert isinstance(run("graph", "inventory").exception, BadQuestion)
    assert isinstance(run("query", "who calls fx?", principal="ingester").exception, Forbidden)
