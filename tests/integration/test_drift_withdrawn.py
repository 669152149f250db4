"""A stored drift report quotes no document that its reader may not read any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filled_api import filled_app

from nexus.model.document import Classification
from nexus.ports.curation import Curation, Decision
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.ports.drift import DriftControl, DriftReader, DriftRecords, FindingFilter, Report
from nexus.store.pool import Database

QUOTE = "The checkout service calls the fx service to convert prices."
BEFORE = f"# Shop\n\n{QUOTE}\n\n## Limits\n\nA conversion takes at most 250 ms.\n"
KEY = "AKIA" + "Q3EGRNZX7VBT2WLM"


class Shop:
    """A filled database, and what a report of it says of one document."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, (_, self.runtime) = database, filled_app(database, folder)
        self.file = folder / "docs" / "architecture.md"

    def get(self, port):
        return self.runtime.get(port)

    def write(self, text: str | None) -> None:
        if text is None:
            self.file.unlink()
        else:
            self.file.write_text(text, encoding="utf-8")
        self.get(DocumentControl).ingest(IngestRequest(self.file, "default"))

    def report(self, clearance: Classification = Classification.INTERNAL) -> Report:
        return self.get(DriftReader).report(FindingFilter("default", clearance))

    def told(self, clearance: Classification = Classification.INTERNAL) -> str:
        """Everything that the report says, each finding looked up by itself too."""
        report = self.report(clearance)
        alone = [
            self.get(DriftRecords).finding(FindingFilter("default", clearance), f.fingerprint) for f in report.findings
        ]
        return repr((report.findings, alone))


@pytest.fixture
def shop(database: Database, tmp_path: Path) -> Iterator[Shop]:
    made = Shop(database, tmp_path)
    assert QUOTE in made.told()
    yield made
    made.runtime.close()


def decide(shop: Shop, action: str) -> None:
    curation = shop.get(Curation)
    reader = Decision("default", "kim", "it is wrong", Classification.RESTRICTED, ())
    getattr(curation, action)(reader, curation.find("default", Classification.RESTRICTED, (), "architecture.md"))


# What happens to the document, and how it is undone.
CHANGES: dict[str, tuple[Callable[[Shop], None], Callable[[Shop], None]]] = {
    "deleted": (lambda shop: shop.write(None), lambda shop: shop.write(BEFORE)),
    "hidden": (lambda shop: decide(shop, "hide"), lambda shop: decide(shop, "restore")),
    "raised": (
        lambda shop: shop.write(f"---\nclassification: RESTRICTED\n---\n{BEFORE}"),
        lambda shop: shop.write(BEFORE),
    ),
    "a secret beside it": (
        lambda shop: shop.write(BEFORE.replace("prices.", f"prices. The key is {KEY}.")),
        lambda shop: shop.write(BEFORE),
    ),
    "nothing clean left": (lambda shop: shop.write(f"{QUOTE} {KEY}\n"), lambda shop: shop.write(BEFORE)),
}


def test_what_a_reader_may_not_read_any_more_is_not_quoted(shop: Shop) -> None:
    before = {f.fingerprint: f.status for f in shop.report().findings}
    for name, (change, undo) in CHANGES.items():
        change(shop)
        told = shop.told()
        assert (name, QUOTE in told, "architecture.md" in told) == (name, False, False)
        assert {f.fingerprint: f.status for f in shop.report().findings} == before
        assert (name, QUOTE in shop.told(Classification.RESTRICTED)) == (name, name == "raised")
        undo(shop)
        assert (name, QUOTE in shop.told()) == (name, True)


def test_runs_of_the_past_keep_nothing_of_a_document_with_secrets(shop: Shop) -> None:
    CHANGES["a secret beside it"][0](shop)
    shop.get(DriftControl).run("default", None, None, None)
    with shop.database.connection() as connection:
        kept = connection.execute("SELECT body::text FROM drift_finding").fetchall()
    assert kept
    assert not [body for (body,) in kept if QUOTE in body]
