"""The commands over documents, on a database server: counts, exit codes, decisions, generations."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from nexus.cli import build
from nexus.cli.exits import FAILED
from nexus.errors import BadQuestion, Conflict, NotFound


@pytest.fixture
def nexus(database_url, tmp_path, monkeypatch):
    monkeypatch.setenv("NEXUS_DATABASE__URL", database_url)
    monkeypatch.setenv("NEXUS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NEXUS_KNOWLEDGE__EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    runner, app = CliRunner(), build()

    def run(*arguments: str, text: str | None = None):
        result = runner.invoke(app, list(arguments), input=text)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def counts(result) -> dict:
    return json.loads(result.stdout.strip().splitlines()[-1])


def test_ingest_counts_skips_and_fails(nexus, tmp_path):
    docs = tmp_path / "docs"
    (docs / "public").mkdir(parents=True)
    (docs / "public" / "a.md").write_text("# A\n\nledger")
    (docs / "b.md").write_bytes(b"\x00")
    result = nexus("ingest", "docs", "--json")
    found = counts(result)
    assert (result.exit_code, found["indexed"], found["failed"]) == (FAILED, 1, 1)
    (docs / "b.md").unlink()
    # A folder below means the same document, at the same level.
    found = counts(nexus("ingest", "docs/public", "--json"))
    assert (found["skipped"], found["indexed"]) == (1, 0)
    assert counts(nexus("ingest", "-", "--name", "notes.md", "--json", text="# Notes\n\nwords"))["indexed"] == 1
    (docs / "public" / "a.md").unlink()
    assert counts(nexus("ingest", "docs", "--json"))["removed"] == 1
    with pytest.raises(NotFound):
        nexus("ingest", "nothing")
    with pytest.raises(BadQuestion):
        nexus("ingest", "docs", "--classification", "SECRET")


def test_supersede_hide_and_generations(nexus, tmp_path):
    for name in ("old", "new"):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}\n\nwords")
    nexus("ingest", ".", "--json")
    assert nexus("supersede", "Old", "--by", "New", "--why", "because").exit_code == 0
    with pytest.raises(Conflict):
        nexus("supersede", "New", "--by", "Old")
    assert nexus("supersede", "Old", "--undo").exit_code == 0
    assert json.loads(nexus("supersede", "old.md", "--hide", "--json").stdout.splitlines()[-1])["done"] == "hidden"
    with pytest.raises(BadQuestion, match="exactly one"):
        nexus("supersede", "Old")
    assert json.loads(nexus("generation", "list", "--json").stdout.splitlines()[-1]) == []
    with pytest.raises(NotFound):
        nexus("generation", "drop", "none-such")
    with pytest.raises(Conflict, match="none"):
        nexus("reembed")
