"""Documents over HTTP: ingest, upload, search, lists and decisions, each as far as the caller may."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import build_app
from api.context import ApiContext
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.wiring.runtime import Runtime

ALL = frozenset({Capability.READ, Capability.INGEST, Capability.MANAGE})
CALLERS = {
    "public": Principal("public", "default", Classification.PUBLIC, frozenset({Capability.READ})),
    "internal": Principal("internal", "default", Classification.INTERNAL, ALL),
    "writer": Principal("writer", "default", Classification.INTERNAL, frozenset({Capability.READ, Capability.INGEST})),
    "restricted": Principal("restricted", "default", Classification.RESTRICTED, ALL),
    "foreign": Principal("foreign", "other", Classification.RESTRICTED, ALL),
    "narrow": Principal("narrow", "default", Classification.RESTRICTED, ALL, ("one",)),
}


class Api:
    def __init__(self, database: Database, folder: Path) -> None:
        self.docs = folder / "docs"
        self.docs.mkdir()
        self.folder = folder
        self.runtime = Runtime(
            load_settings({"data": folder / "data", "docs": {"roots": [self.docs]}, "knowledge": {"embedder": "none"}}),
            database,
        )
        app = build_app(
            ApiContext(
                services=self.runtime,
                now=self.runtime.clock.now,
                find_principal=CALLERS.get,
                local_principal=None,
                max_body_bytes=1 << 20,
            )
        )
        self.client = TestClient(app, raise_server_exceptions=False)

    def __call__(self, method: str, path: str, who: str = "internal", status: int = 200, **values):
        response = self.client.request(method, path, headers={"Authorization": f"Bearer {who}"}, **values)
        assert response.status_code == status, response.text
        return response.json()

    def write(self, name: str, text: str) -> None:
        path = self.docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def titles(self, query: str, who: str = "internal", **values) -> list[str]:
        return [
            hit["document"]["title"] for hit in self("POST", "/search", who, json={"query": query, **values})["results"]
        ]


@pytest.fixture
def api(database, tmp_path):
    api = Api(database, tmp_path)
    api.write("public/open.md", "# Open\n\nledger for everybody")
    api.write("inside.md", "# Inside\n\nledger for us")
    api.write("restricted/secret.md", "# Secret\n\nledger for few, card 4111-1111-1111-1111\n\n## Other\n\nledger")
    yield api
    api.runtime.close()


def test_the_answer_to_an_ingest_has_what_the_contract_names(api):
    body = api("POST", "/ingest", json={"path": str(api.docs)})
    assert {
        "documents",
        "indexed",
        "skipped",
        "removed",
        "quarantined",
        "failed",
        "passages",
        "claims",
        "edges",
        "errors",
        "took_ms",
    } <= set(body)
    assert (body["documents"], body["indexed"], body["quarantined"], body["failed"]) == (3, 3, 1, 0)
    assert api("POST", "/ingest", json={"path": str(api.docs)})["skipped"] == 3


def test_each_caller_finds_and_lists_what_it_may(api):
    api("POST", "/ingest", json={"path": str(api.docs)})
    assert api.titles("ledger", "public") == ["Open"]
    assert sorted(api.titles("ledger")) == ["Inside", "Open"]
    assert sorted(api.titles("ledger", "restricted")) == ["Inside", "Open", "Secret"]
    assert api.titles("ledger", "foreign") == [] == api.titles("ledger", "narrow")
    assert api.titles("ledger", "restricted", clearance="PUBLIC") == ["Open"]
    assert sorted(api.titles("ledger", "public", clearance="RESTRICTED")) == ["Open"]
    for who, count in (("public", 1), ("internal", 2), ("restricted", 3), ("foreign", 0), ("narrow", 0)):
        assert len(api("GET", "/documents", who)["documents"]) == count
        assert len(api("GET", "/documents/quarantine", who)["quarantine"]) == (who == "restricted")
    assert "4111" not in str(api("GET", "/documents/quarantine", "restricted"))


def test_a_result_has_what_the_contract_names(api):
    api("POST", "/ingest", json={"path": str(api.docs)})
    body = api("POST", "/search", json={"query": "ledger", "clearance": "INTERNAL"})
    assert {"results", "graph", "fit", "route_used", "degraded", "took_ms"} <= set(body)
    assert set(body["fit"]) == {"best_cosine", "best_bm25", "weak"}
    assert {
        "rid",
        "document",
        "section",
        "lines",
        "uri",
        "text",
        "score",
        "bm25_rank",
        "vector_rank",
        "tier",
        "classification",
        "stale",
    } <= set(body["results"][0])
    assert body["degraded"] == ["no embedder: keywords only"]


def test_requests_that_make_no_sense_are_refused(api):
    for body in (
        {"query": ""},
        {"query": "   "},
        {"query": "x", "top_k": 0},
        {"query": "x", "top_k": 101},
        {"query": "x", "route": "up"},
        {"query": "x", "more": 1},
        {"query": "a\0"},
        {"query": "x", "namespace": "a\0b"},
        {},
    ):
        api("POST", "/search", json=body, status=422)
    api("POST", "/ingest", json={"path": "/etc"}, status=403)
    api("POST", "/ingest", json={"path": str(api.docs / ".." / "..")}, status=403)
    api("POST", "/ingest", json={"path": str(api.docs / "nothing")}, status=404)
    api("POST", "/ingest", json={"path": str(api.docs), "namespace": ""}, status=422)
    api("POST", "/ingest", "public", json={"path": str(api.docs)}, status=403)
    api("POST", "/ingest", "writer", json={"path": str(api.docs), "classification": "PUBLIC"}, status=403)
    api("POST", "/ingest", "narrow", json={"path": str(api.docs)}, status=403)
    api("POST", "/search", "narrow", json={"query": "x", "namespace": "two"}, status=403)


def test_who_manages_may_say_public(api):
    api("POST", "/ingest", json={"path": str(api.docs), "classification": "PUBLIC"})
    assert sorted(api.titles("ledger", "public")) == ["Inside", "Open"]


def test_uploads_stay_under_their_root(api):
    good = [("files", ("notes/한글.md", "# 업로드\n\n원장".encode())), ("files", ("b.txt", b"ledger upload"))]
    assert api("POST", "/upload", files=good)["indexed"] == 2
    assert api.titles("원장") == ["업로드"]
    stored = sorted(path.name for path in (api.folder / "data" / "uploads").rglob("*") if path.is_file())
    assert stored == ["b.txt", "한글.md"]
    for name in (
        "../x.md",
        "/etc/x.md",
        "a/../../x.md",
        "a\\..\\x.md",
        ".hidden.md",
        "con.md",
        "x.exe",
        "a//b.md",
        "..",
        "x\u202e.md/",
    ):
        api("POST", "/upload", files=[("files", ("ok.md", b"# ok")), ("files", (name, b"# x"))], status=422)
    assert not list((api.folder / "data" / "uploads").rglob("ok.md"))
    api("POST", "/upload", "public", files=good, status=403)


def test_uploads_are_no_source_for_others(api):
    api("POST", "/upload", files=[("files", ("plan.md", b"# Plan\n\nledger merger"))])
    uploads = api.folder / "data" / "uploads"
    mine = uploads / "default" / "default"
    for path in (uploads, uploads / "default", mine, mine / "plan.md"):
        api("POST", "/ingest", "foreign", json={"path": str(path)}, status=403)
        api("POST", "/ingest", "narrow", json={"path": str(path), "namespace": "one"}, status=403)
    assert api.titles("ledger", "foreign") == []
    assert api("POST", "/ingest", "writer", json={"path": str(mine)})["skipped"] == 1


def test_decisions_are_for_who_manages_and_show_at_once(api):
    api("POST", "/ingest", json={"path": str(api.docs)})
    rid = next(row["rid"] for row in api("GET", "/documents")["documents"] if row["title"] == "Inside")
    api("POST", f"/documents/{rid}/hide", "writer", status=403)
    api("POST", f"/documents/{rid}/hide", "foreign", status=404)
    api("POST", f"/documents/{rid}/hide", json={"why": "draft"})
    assert api.titles("ledger") == ["Open"]
    api("POST", f"/documents/{rid}/hide", status=409)
    api("POST", f"/documents/{rid}/restore")
    assert [entry["action"] for entry in api("GET", f"/documents/{rid}/history")["history"]] == ["hide", "restore"]
    api("POST", "/documents/supersede", json={"old": "Inside", "new": "Open"})
    api("POST", "/documents/supersede", json={"old": "Open", "new": "Inside"}, status=409)
    api("POST", "/documents/supersede", json={"old": "Inside", "new": "Secret"}, status=404)
    assert {row["title"]: row["status"] for row in api("GET", "/documents")["documents"]} == {
        "Inside": "superseded",
        "Open": "active",
    }
    api("POST", "/documents/supersede/undo", json={"old": "Inside"})
    assert api("GET", "/documents", params={"status": "superseded"})["documents"] == []


def test_what_took_a_document_s_place_is_told_to_those_who_may_see_it(api):
    api("POST", "/ingest", "restricted", json={"path": str(api.docs)})
    api("POST", "/documents/supersede", "restricted", json={"old": "Inside", "new": "Secret", "why": "the merger"})
    seen = {}
    for who in ("restricted", "internal"):
        row = next(row for row in api("GET", "/documents", who)["documents"] if row["title"] == "Inside")
        entry = api("GET", f"/documents/{row['rid']}/history", who)["history"][-1]
        seen[who] = (row["status"], bool(row["superseded_by"]), bool(entry["other"]), entry["why"])
    assert seen == {
        "restricted": ("superseded", True, True, "the merger"),
        "internal": ("superseded", False, False, ""),
    }


def test_lists_are_paged(api):
    api("POST", "/ingest", json={"path": str(api.docs)})
    first = api("GET", "/documents", params={"limit": 1})
    second = api("GET", "/documents", params={"limit": 1, "cursor": first["next"]})
    assert second["next"] is None and first["documents"] != second["documents"]
