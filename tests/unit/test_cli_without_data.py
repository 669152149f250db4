"""Commands that read say that there is nothing to read, instead of an empty answer from a folder that they made."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from nexus.cli import main
from nexus.cli.reading import Api
from nexus.errors import StoreUnavailable

READING = (
    ("diff",),
    ("query", "why?"),
    ("why", "a", "b"),
    ("graph", "a"),
    ("code",),
    ("entities", "list"),
    ("generation", "list"),
    ("auth", "list"),
    ("otel-aggregate",),
    ("finding", "reopen", "f"),
)


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_folder_without_data_is_named_and_not_made(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "none"
    monkeypatch.setattr("sys.argv", ["nexus", *command, "--data", str(folder)])
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr()
    assert stopped.value.code == 2
    assert f"there is no data in {folder}" in said.err
    assert said.out == ""
    assert not folder.exists()


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, html="<p>another site</p>"),
        httpx.Response(502, text="bad gateway"),
        httpx.Response(500, json={"code": "what?", "detail": "new"}),
    ],
    ids=["page", "proxy", "unknown"],
)
def test_what_does_not_answer_like_nexus_could_not_be_asked(answer: httpx.Response) -> None:
    transport = httpx.MockTransport(lambda _: answer)
    with httpx.Client(transport=transport, base_url="http://elsewhere") as client, pytest.raises(StoreUnavailable):
        Api(client).get("/status", {})


def test_json_of_a_document_is_an_answer() -> None:
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, content=json.dumps({"state": "ok"}), headers={"content-type": "application/json"})
    )
    with httpx.Client(transport=transport, base_url="http://here") as client:
        assert Api(client).get("/status", {}) == {"state": "ok"}
