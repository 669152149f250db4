"""Decisions over the store and over HTTP: edges move with a merge and back with a split, with who and why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.app import build_app
from api.context import ApiContext
from designed.run import Refresh
from designed.stored import StoredDesigned, StoredEntities
from nexus.errors import InvariantBroken
from nexus.model.document import Classification, DocumentRef, SourceText
from nexus.model.principal import Capability, Principal
from nexus.plugins import load_plugins
from nexus.ports.designed import DesignedFilter
from nexus.ports.entities import EntityControl
from nexus.store.pool import Database

BODY = "# Notes\n\nThe billing service calls the ledger-api. The payment service calls the tax-service.\n"
SECRET = "# Secret\n\nThe vault-service calls the ledger-api.\n"


class Documents:
    def documents(self, tenant: str) -> list[DocumentRef]:
        return [t.ref for t in self._all()]

    def texts(self, tenant: str, rids: list[str]) -> Iterator[SourceText]:
        yield from (t for t in self._all() if t.ref.rid in rids)

    def passages(self, tenant: str, rids: list[str], clearance: Classification) -> list:
        return []

    def _all(self) -> list[SourceText]:
        return [
            SourceText(DocumentRef("a", "a", "a.md", "1"), BODY, ".md", "a.md"),
            SourceText(
                DocumentRef("b", "b", "b.md", "1"), SECRET, ".md", "b.md", classification=Classification.RESTRICTED
            ),
        ]


@pytest.fixture
def control(database: Database, clock) -> StoredEntities:
    refresh = Refresh(
        database, Documents(), load_plugins("designed.readers", "READER"), clock, lambda _tenant: (), workers=1
    )
    refresh.refresh("default")
    return StoredEntities(database, refresh, clock)


def client(
    database: Database, control: StoredEntities, clock, *capabilities: Capability, clearance=Classification.INTERNAL
) -> TestClient:
    class Services:
        def __init__(self) -> None:
            self.database = database

        def get(self, port: type):
            if port is EntityControl:
                return control
            raise InvariantBroken(port.__name__)

    who = Principal("ann", "default", clearance, frozenset(capabilities))
    app: FastAPI = build_app(
        ApiContext(Services(), clock.now, lambda token: who if token == "t" else None, None, 1 << 20)
    )
    return TestClient(app, headers={"Authorization": "Bearer t"})


def shown(database: Database) -> set[tuple[str, str]]:
    edges = StoredDesigned(database).edges(DesignedFilter("default", Classification.INTERNAL))
    return {(e.source.name, e.target.name) for e in edges}


def test_edges_move_with_a_merge_and_back_with_a_split(database: Database, control: StoredEntities, clock) -> None:
    http = client(database, control, clock, Capability.READ, Capability.MANAGE)
    assert shown(database) == {("billing-service", "ledger-api"), ("payment-service", "tax-service")}
    answer = http.post(
        "/entities/merge", json={"name": "billing-service", "other": "payment-service", "why": "renamed in 2025"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["entity"]["name"] == "payment-service"
    assert shown(database) == {("payment-service", "ledger-api"), ("payment-service", "tax-service")}
    # The alias finds the edges too.
    assert (
        len(
            StoredDesigned(database).edges(DesignedFilter("default", Classification.INTERNAL, source="Billing Service"))
        )
        == 2
    )
    assert (
        http.post(
            "/entities/split", json={"name": "payment-service", "other": "billing-service", "why": "was wrong"}
        ).status_code
        == 200
    )
    assert shown(database) == {("billing-service", "ledger-api"), ("payment-service", "tax-service")}
    made = http.get("/entities/decisions").json()["decisions"]
    assert [(d["action"], d["who"], d["why"]) for d in made] == [
        ("merge", "ann", "renamed in 2025"),
        ("split", "ann", "was wrong"),
    ]


def test_a_rejected_name_makes_no_edges(database: Database, control: StoredEntities, clock) -> None:
    http = client(database, control, clock, Capability.READ, Capability.MANAGE)
    assert http.post("/entities/reject", json={"name": "billing-service", "why": "an example"}).status_code == 200
    assert ("billing-service", "ledger-api") not in shown(database)
    assert [e["name"] for e in http.get("/entities", params={"state": "rejected"}).json()["entities"]] == [
        "billing-service"
    ]


def test_what_a_restricted_document_names_stays_there(database: Database, control: StoredEntities, clock) -> None:
    low = client(database, control, clock, Capability.READ)
    high = client(database, control, clock, Capability.READ, clearance=Classification.RESTRICTED)
    assert "vault-service" not in low.get("/entities/suggest").text
    assert "vault-service" in high.get("/entities/suggest").text
    assert low.get("/entities", params={"q": "vault"}).json()["entities"] == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/entities/merge", {"name": "nobody", "other": "payment-service", "why": "x"}, 404),
        ("/entities/merge", {"name": "payment-service", "why": "x"}, 422),
        ("/entities/accept", {"name": "payment-service"}, 422),
        ("/entities/accept", {"name": "payment-service", "why": "  "}, 422),
        ("/entities/alias", {"name": "payment-service", "other": "x", "why": "y", "tenant": "other"}, 422),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(
    database: Database, control: StoredEntities, clock, path: str, body: dict, status: int
) -> None:
    assert client(database, control, clock, Capability.MANAGE).post(path, json=body).status_code == status
    assert control.decisions("default") == []


def test_only_who_may_manage_decides(database: Database, control: StoredEntities, clock) -> None:
    assert (
        client(database, control, clock, Capability.READ)
        .post("/entities/accept", json={"name": "payment-service", "why": "x"})
        .status_code
        == 403
    )
