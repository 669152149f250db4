"""Answers over the real readers: one snapshot a packet, and what a reader may see."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from answer.narrators.template import TemplateNarrator
from answer.run import AnswerService
from nexus.model.document import Classification
from nexus.ports.answers import Answerer, AnswerRequest, GraphReader, GraphRequest
from nexus.ports.designed import DesignControl
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.ports.search import Retriever, SearchRequest, SearchResult
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.wiring.answers import ports
from nexus.wiring.runtime import Runtime

ARCHITECTURE = """# Shop

The checkout service calls the fx service to convert prices.

A conversion takes at most 250 ms.
"""
SECRET = """---
classification: RESTRICTED
---
# Audit

The checkout service calls the ledger-vault service to seal an order after 90 seconds.
"""


@pytest.fixture
def runtime(database: Database, tmp_path: Path) -> Runtime:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "architecture.md").write_text(ARCHITECTURE, encoding="utf-8")
    (docs / "audit.md").write_text(SECRET, encoding="utf-8")
    settings = load_settings({"data": tmp_path / "data", "docs": {"roots": (docs,)}})
    made = Runtime(settings, database, docs=(docs,))
    report = made.get(DocumentControl).ingest(IngestRequest(docs))
    assert report["failed"] == 0, report
    made.get(DesignControl).refresh("default")
    return made


def ask(
    runtime: Runtime, query: str, clearance: Classification = Classification.INTERNAL, tenant: str = "default"
) -> object:
    return runtime.get(Answerer).answer(AnswerRequest(query, tenant, clearance))


def test_documents_alone_answer_with_citations(runtime: Runtime) -> None:
    why = ask(runtime, "why does checkout call fx?")
    assert "to convert prices" in why.text  # type: ignore[attr-defined]
    assert "not observed" in why.text  # type: ignore[attr-defined]
    assert why.verification.share == 1.0, why.verification  # type: ignore[attr-defined]
    limit = ask(runtime, "How long does a conversion take at most?")
    assert "250 ms" in limit.text  # type: ignore[attr-defined]


def test_clearance_and_tenant_cut_passages_edges_and_names(runtime: Runtime) -> None:
    secret = ask(runtime, "why does checkout call ledger-vault?", Classification.RESTRICTED)
    assert "seal an order" in secret.text  # type: ignore[attr-defined]
    hidden = ask(runtime, "why does checkout call ledger-vault?")
    assert hidden.abstained  # type: ignore[attr-defined]
    assert "seal" not in repr(hidden.packet)  # type: ignore[attr-defined]
    assert not any("ledger-vault" in e.name for name, near in hidden.packet.unknown for e in hidden.packet.subjects)  # type: ignore[attr-defined]
    foreign = ask(runtime, "why does checkout call fx?", Classification.RESTRICTED, tenant="other")
    assert (foreign.abstained, foreign.packet.edges, foreign.packet.passages) == (True, (), ())  # type: ignore[attr-defined]


def test_the_graph_is_cut_too(runtime: Runtime) -> None:
    graphs = runtime.get(GraphReader)
    seen = graphs.neighbourhood(GraphRequest("default", Classification.INTERNAL, "checkout"))
    assert [e.edge.target.name.removesuffix("-service") for e in seen.edges] == ["fx"]
    all_of_it = graphs.neighbourhood(GraphRequest("default", Classification.RESTRICTED, "checkout"))
    assert sorted(e.edge.target.name.removesuffix("-service") for e in all_of_it.edges) == ["fx", "ledger-vault"]


def test_a_packet_reads_one_state_of_the_database(database: Database) -> None:
    with database.connection() as connection:
        connection.execute("CREATE TABLE seen (n int)")
    with database.snapshot():
        with database.connection() as inside:
            assert inside.execute("SELECT count(*) FROM seen").fetchone() == (0,)

        def write() -> None:
            with database.connection() as other:
                other.execute("INSERT INTO seen VALUES (1)")

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        with database.connection() as inside:
            assert inside.execute("SELECT count(*) FROM seen").fetchone() == (0,)
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM seen").fetchone() == (1,)


def test_a_packet_is_one_transaction_whatever_is_written_meanwhile(runtime: Runtime, tmp_path: Path) -> None:
    """Every document goes between the reads of the registry, of the passages and of the edges: the packet does not notice."""
    retriever = runtime.get(Retriever)

    class Meddling:
        def search(self, request: SearchRequest) -> SearchResult:
            writer = threading.Thread(
                target=runtime.get(DocumentControl).delete, args=("default", "default", (tmp_path / "docs").as_uri())
            )
            writer.start()
            writer.join()
            return retriever.search(request)

    service = AnswerService(
        replace(ports(runtime), retriever=Meddling()),
        TemplateNarrator(),
        runtime.clock.now,
        snapshot=runtime.database.snapshot,
    )
    packet = service.packet(AnswerRequest("why does checkout call fx?", "default", Classification.INTERNAL))
    assert [type(e.edge).__name__ for e in packet.edges] == ["DesignedEdge"]
    assert packet.passages
    after = service.packet(AnswerRequest("why does checkout call fx?", "default", Classification.INTERNAL))
    assert (after.passages, after.edges) == ((), ())
