"""What a document no longer holds, or must not hold, stands in no row of the database: passages, terms, claims, symbols, what was decided or kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nexus.model.document import Classification
from nexus.ports.curation import Curation, Decision
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.wiring.runtime import Runtime

# Stands in one sentence and nowhere else.
WORD = "quokka"
SENTENCE = f"The checkout-service calls the {WORD}-service over gRPC, see `{WORD}_client`."
# Made up, and read by the scanner for what it looks like.
SECRET = "postgres://app:Xk29fh!q@db/orders"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = (tmp_path / "docs").resolve()
    docs.mkdir()
    (docs / "other.md").write_text("# Other\n\nThe web-service calls the checkout-service.\n", encoding="utf-8")
    return docs


@pytest.fixture
def control(database: Database, docs: Path, tmp_path: Path) -> Iterator[DocumentControl]:
    settings = load_settings({"data": tmp_path / "data", "docs": {"roots": (docs,)}, "knowledge": {"embedder": "none"}})
    yield Runtime(settings, database).get(DocumentControl)  # type: ignore[type-abstract]


def tables_with(database: Database, word: str) -> set[str]:
    """Tables of which any row spells the word."""
    with database.connection() as connection:
        names = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        ).fetchall()
        return {
            name
            for (name,) in names
            if connection.execute(f'SELECT 1 FROM "{name}" t WHERE t::text LIKE %s LIMIT 1', (f"%{word}%",)).fetchone()
        }


def test_a_secret_takes_what_was_read_beside_it_out_of_every_table(
    control: DocumentControl, database: Database, docs: Path
) -> None:
    page = docs / "design.md"
    page.write_text(f"# Design\n\n{SENTENCE}\n\n## Plain\n\nNothing to see.\n", encoding="utf-8")
    control.ingest(IngestRequest(docs))
    assert {"passage", "designed_claim", "designed_document", "code_anchor"} <= tables_with(database, WORD)
    page.write_text(f"# Design\n\n{SENTENCE} It reads {SECRET}.\n\n## Plain\n\nNothing to see.\n", encoding="utf-8")
    assert control.ingest(IngestRequest(docs))["quarantined"] == 1
    assert tables_with(database, WORD) == set()
    assert tables_with(database, "Xk29fh") == set()
    assert "passage" in tables_with(database, "Nothing to see")


def test_a_deleted_file_leaves_the_history_of_its_claims_and_nothing_else(
    control: DocumentControl, database: Database, docs: Path
) -> None:
    page = docs / "design.md"
    page.write_text(f"# Design\n\n{SENTENCE}\n", encoding="utf-8")
    control.ingest(IngestRequest(docs))
    page.unlink()
    assert control.ingest(IngestRequest(docs))["removed"] == 1
    assert tables_with(database, WORD) == {"designed_claim"}
    with database.connection() as connection:
        assert connection.execute(
            "SELECT count(*) FILTER (WHERE valid_to IS NULL), count(*) > 0 FROM designed_claim WHERE body::text LIKE '%quokka%'"
        ).fetchone() == (0, True)


def test_a_hidden_document_stays_indexed_and_gives_no_name_claim_or_reading(
    control: DocumentControl, database: Database, docs: Path, tmp_path: Path
) -> None:
    (docs / "design.md").write_text(f"# Design\n\n{SENTENCE}\n", encoding="utf-8")
    control.ingest(IngestRequest(docs))
    assert {"entity", "designed_document"} & tables_with(database, WORD)
    settings = load_settings({"data": tmp_path / "data", "docs": {"roots": (docs,)}, "knowledge": {"embedder": "none"}})
    curation = Runtime(settings, database).get(Curation)  # type: ignore[type-abstract]
    rid = curation.find("default", Classification.RESTRICTED, (), "design.md")
    curation.hide(Decision("default", "kim", "wrong", Classification.RESTRICTED), rid)
    # Indexed, for the day it is restored, and the history of its claims.
    assert tables_with(database, WORD) == {"passage", "code_anchor", "designed_claim"}
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM segment WHERE document = %s AND served", (rid,)).fetchone() == (
            0,
        )
        assert connection.execute(
            "SELECT count(*) FROM designed_claim WHERE document_rid = %s AND valid_to IS NULL", (rid,)
        ).fetchone() == (0,)
