"""A secret in a document, wherever it stands: no row of any table spells it, a part of it or a hash of it afterwards, and no answer or event either."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import structlog

from knowledge.tokens import default_analyzer, term_key
from nexus.model.document import Classification
from nexus.ports.curation import Curation, Decision
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.settings import load_settings
from nexus.store.documents import list_quarantine
from nexus.store.packs import pack
from nexus.store.pool import Database
from nexus.store.postings import unpacked
from nexus.wiring import knowledge as wiring
from nexus.wiring.runtime import Runtime

# Made up, and read by the scanner for what it looks like; the word after it stands nowhere else.
TOKEN = "ghp_" + "Zq7Xw2Kd9Lm4Np6Rt8Vb1Yc3Hj5Gf0Sa7Eu2"
OTHER = "ghp_" + "Bn5Mv8Cx1Zl4Kj7Hg0Fd3Sa6Po9Iu2Yt5Re8"
# Windows of this length of a secret are looked for.
PART = 10
DOCS = "docs"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = (tmp_path / DOCS).resolve()
    root.mkdir()
    (root / "other.md").write_text("# Other\n\nThe web-service calls the checkout-service.\n", encoding="utf-8")
    return root


@pytest.fixture
def make(database: Database, root: Path, tmp_path: Path) -> Callable[[], Runtime]:
    settings = load_settings({"data": tmp_path / "data", "docs": {"roots": (root,)}, "knowledge": {"embedder": "none"}})
    return lambda: Runtime(settings, database)


def control(runtime: Runtime) -> DocumentControl:
    return runtime.get(DocumentControl)  # type: ignore[type-abstract]


def traces(database: Database, secret: str) -> set[str]:
    """Tables of which any row spells a part of the secret, whatever the case, or holds it as a term of the search."""
    parts = {secret[at : at + PART].lower() for at in range(len(secret) - PART + 1)}
    parts |= {quote(part).lower() for part in parts}
    found = set()
    with database.connection() as connection:
        names = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        ).fetchall()
        for (name,) in names:
            if connection.execute(
                f'SELECT 1 FROM "{name}" t WHERE lower(t::text) LIKE ANY (%s) LIMIT 1', ([f"%{p}%" for p in parts],)
            ).fetchone():
                found.add(name)
        terms = {term_key(term) for term in default_analyzer().terms(secret)}
        for name in ("segment_terms", "pack_terms"):
            rows = connection.execute(f"SELECT terms FROM {name}").fetchall()
            if any(terms.intersection(unpacked(row[0], 64).tolist()) for row in rows):
                found.add(name)
    return found


def listed(database: Database) -> list[tuple[str, str]]:
    with database.connection() as connection:
        return [(row.kind, row.place) for row in list_quarantine(connection, "default", Classification.RESTRICTED)]


PLAIN = "# Design\n\nThe checkout-service calls the ledger-service.\n"
# (name, text, request metadata) -> where the finding is listed.
CASES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "body": ("a.md", f"{PLAIN}\n## Keys\n\nIt is {TOKEN} here.\n", {}, "body"),
    "heading": ("a.md", f"{PLAIN}\n## About {TOKEN}\n\nwords\n\n### Below\n\nmore\n", {}, "body"),
    "first heading": ("a.md", f"# About {TOKEN}\n\nwords\n\n## Below\n\nmore\n", {}, "title"),
    "long heading": ("a.md", f"{PLAIN}\n## {'word ' * 57}{TOKEN}\n\nwords\n\n### Below\n\nmore\n", {}, "body"),
    "type": ("a.md", f"---\ntype: {TOKEN}\n---\n{PLAIN}", {}, "front matter"),
    "title": ("a.md", f"---\ntitle: On {TOKEN}\n---\n{PLAIN}", {}, "title"),
    "escaped": (
        "a.md",
        '---\nowner: "' + "".join(f"\\x{ord(c):02x}" for c in TOKEN) + '"\n---\n' + PLAIN,
        {},
        "front matter",
    ),
    "file name": (f"{TOKEN}.md", PLAIN, {}, "file name"),
    "folder name": (f"x/{TOKEN}/y/a.md", PLAIN, {}, "file name"),
    "metadata": ("a.md", PLAIN, {"note": {"inner": [f"see {TOKEN}"]}}, "metadata"),
    "metadata in lines": (
        "a.md",
        PLAIN,
        {"key": f"-----BEGIN PRIVATE KEY-----\n{'Qx7' + TOKEN[4:] + TOKEN[4:24]}\n-----END PRIVATE KEY-----\n"},
        "metadata",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_no_row_answer_or_event_spells_a_secret(make, database: Database, root: Path, case: str) -> None:
    name, text, metadata, place = CASES[case]
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    with structlog.testing.capture_logs() as logs:
        result = control(make()).ingest(IngestRequest(root, metadata=metadata if metadata else {}))
        # As the watcher does: the file itself is the path.
        again = control(make()).ingest(IngestRequest(file, metadata=metadata, force=True))
    assert again["quarantined"] == 1 and result["failed"] == again["failed"] == 0
    assert place in [where for _, where in listed(database)]
    assert traces(database, TOKEN[4:]) == set()
    shown = json.dumps([result, again, logs], default=str).lower()
    assert TOKEN[4:14].lower() not in shown
    # Once its file is gone, so is what was listed.
    file.unlink()
    assert control(make()).ingest(IngestRequest(file))["removed"] == 1
    assert [row for row in listed(database) if row[1] == place and not metadata] == []


def test_a_heading_that_is_a_secret_without_its_markup_is_found_and_listed(make, database, root: Path) -> None:
    key = "Q7XW2KD9LM4NP6RT"
    (root / "a.md").write_text(f"{PLAIN}\n## Key AKIA**{key}**\n\nwords\n\n### Below\n\nmore\n", encoding="utf-8")
    assert control(make()).ingest(IngestRequest(root))["quarantined"] == 1
    assert [where for _, where in listed(database)] == ["heading"]
    assert traces(database, f"AKIA{key}") == set()


def test_two_files_of_one_folder_whose_names_are_secrets_are_two_documents(make, database, root: Path) -> None:
    for secret in (TOKEN, OTHER):
        (root / f"{secret}.md").write_text(PLAIN, encoding="utf-8")
    result = control(make()).ingest(IngestRequest(root))
    assert (result["quarantined"], result["failed"], result["errors"]) == (2, 0, [])
    assert traces(database, TOKEN[4:]) | traces(database, OTHER[4:]) == set()
    (root / f"{TOKEN}.md").unlink()
    assert control(make()).ingest(IngestRequest(root, globs=("*.md",)))["removed"] == 1
    assert len(listed(database)) == 1


def test_a_text_named_by_a_secret_is_listed_under_no_part_of_it(make, database) -> None:
    made = control(make())
    with structlog.testing.capture_logs() as logs:
        made.ingest_text(PLAIN, f"notes/{TOKEN}.md", IngestRequest(Path(), "default"))
    assert traces(database, TOKEN[4:]) == set()
    assert TOKEN[4:14] not in json.dumps(logs, default=str)
    assert [where for _, where in listed(database)] == ["file name"]


def test_a_file_that_cannot_be_read_is_an_error_without_the_secret_in_its_name(make, root: Path) -> None:
    (root / f"{TOKEN}.md").write_bytes(b"\x00\x01")
    with structlog.testing.capture_logs() as logs:
        result = control(make()).ingest(IngestRequest(root))
    assert result["failed"] == 1 and result["errors"][0]["error"].startswith("read ")
    assert TOKEN[4:14] not in json.dumps([result, logs], default=str)


LEARNED = f"""---
type: {TOKEN}
---
# Design

The checkout-service calls the ledger-service over gRPC with {TOKEN}, see `{TOKEN}_Client()`.

The checkout-service sends to the topic {TOKEN[4:].lower()}-events.

## Plain

Nothing to see in the ledger.
"""


def test_what_was_indexed_before_the_scanner_knew_the_secret_leaves_nothing(
    make, database: Database, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "design.md").write_text(LEARNED, encoding="utf-8")
    with monkeypatch.context() as patch:
        load = wiring.load_plugins
        patch.setattr(wiring, "load_plugins", lambda name, kind: {} if "detectors" in name else load(name, kind))
        control(make()).ingest(IngestRequest(root))
    with database.connection() as connection:
        assert pack(connection, "default", fresh=1)
    before = traces(database, TOKEN[4:])
    assert {"passage", "document", "pack_terms", "segment_terms", "code_anchor"} <= before
    assert {"designed_claim", "designed_document"} <= before
    assert control(make()).ingest(IngestRequest(root))["quarantined"] == 1
    assert traces(database, TOKEN[4:]) == set()
    assert "passage" in traces(database, "Nothing to see in the ledger")


def test_a_hidden_document_stays_hidden_through_a_secret_and_through_its_files_absence(make, database, root) -> None:
    page = root / "design.md"
    page.write_text(PLAIN, encoding="utf-8")
    runtime = make()
    made, curation = control(runtime), runtime.get(Curation)
    made.ingest(IngestRequest(root))
    decision = Decision("default", "kim", "wrong", Classification.RESTRICTED)
    rid = curation.find("default", Classification.RESTRICTED, (), "design.md")
    curation.hide(decision, rid)

    def status() -> tuple[str, bool]:
        with database.connection() as connection:
            row = connection.execute(
                "SELECT status, (SELECT bool_or(served) FROM segment s WHERE s.document = d.rid) FROM document d WHERE rid = %s",
                (rid,),
            ).fetchone()
        assert row is not None
        return row

    assert status() == ("hidden", False)
    page.write_text(f"{TOKEN}\n", encoding="utf-8")
    made.ingest(IngestRequest(root))
    assert status() == ("quarantined", None)
    page.write_text(PLAIN + "\nmore\n", encoding="utf-8")
    made.ingest(IngestRequest(root))
    assert status() == ("hidden", False)
    page.unlink()
    made.ingest(IngestRequest(root))
    page.write_text(PLAIN, encoding="utf-8")
    made.ingest(IngestRequest(root))
    assert status() == ("hidden", False)
    curation.restore(decision, rid)
    assert status() == ("active", True)
    page.unlink()
    made.ingest(IngestRequest(root))
    page.write_text(PLAIN, encoding="utf-8")
    made.ingest(IngestRequest(root))
    assert status() == ("active", True)


def test_a_superseded_document_that_comes_back_is_superseded_while_the_other_stands(make, database, root) -> None:
    for name in ("old", "new"):
        (root / f"{name}.md").write_text(f"# {name}\n\nwords\n", encoding="utf-8")
    runtime = make()
    made, curation = control(runtime), runtime.get(Curation)
    made.ingest(IngestRequest(root))
    old, new = (curation.find("default", Classification.RESTRICTED, (), f"{name}.md") for name in ("old", "new"))
    curation.supersede(Decision("default", "kim", "", Classification.RESTRICTED), old, new)

    def back() -> tuple[str, str | None]:
        (root / "old.md").unlink()
        made.ingest(IngestRequest(root))
        (root / "old.md").write_text("# old\n\nwords\n", encoding="utf-8")
        made.ingest(IngestRequest(root))
        with database.connection() as connection:
            row = connection.execute("SELECT status, superseded_by FROM document WHERE rid = %s", (old,)).fetchone()
        assert row is not None
        return row

    assert back() == ("superseded", new)
    (root / "new.md").unlink()
    made.ingest(IngestRequest(root))
    assert back() == ("active", None)
