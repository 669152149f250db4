"""The code index end to end: ingest, anchors that change and go, values beside claims, clearance and tenant, over HTTP, MCP and the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import build_app
from api.context import ApiContext
from api.tools._answers import answer_result
from knowledge.code.index import CodeIndex
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.ports.code import CodeControl
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.wiring.runtime import Runtime

ALL = frozenset({Capability.READ, Capability.INGEST, Capability.MANAGE})
CALLERS = {
    "internal": Principal("internal", "default", Classification.INTERNAL, ALL),
    "public": Principal("public", "default", Classification.PUBLIC, ALL),
    "foreign": Principal("foreign", "other", Classification.RESTRICTED, ALL),
}
ORDER = (
    "package com.shop;\npublic enum GradeType { GUEST(0), ADMIN(20); }\nclass Order {\n  static final int MAX_ITEMS_PER_ORDER = 200;\n"
    "  void place(int n) { send(n); }\n  @RequireGrade(GradeType.ADMIN)\n  public void purge(int n) {\n  }\n}\n"
)
DOCUMENT = "# Order limits\n\nAn order holds at most 100 items per order, as `Order` checks in `Order.place()`; `LegacyOrder` did before. See `com/shop/Order.java`.\n"


class Shop:
    def __init__(self, database: Database, folder: Path) -> None:
        self.code, self.docs = folder / "app", folder / "docs"
        self.write(ORDER)
        self.docs.mkdir()
        (self.docs / "limits.md").write_text(DOCUMENT, encoding="utf-8")
        secret = folder / "secret.py"
        secret.write_text("HIDDEN_LIMIT = 9\n", encoding="utf-8")
        (self.code / "link.py").symlink_to(secret)
        settings = {
            "data": folder / "data",
            "docs": {"roots": [self.docs]},
            "knowledge": {"embedder": "none"},
            "answer": {"code_roots": [self.code]},
        }
        self.runtime = Runtime(load_settings(settings), database)
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

    def write(self, text: str, name: str = "com/shop/Order.java") -> Path:
        path = self.code / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def __call__(self, method: str, path: str, who: str = "internal", status: int = 200, **values):
        response = self.client.request(method, path, headers={"Authorization": f"Bearer {who}"}, **values)
        assert response.status_code == status, response.text
        return response.json()

    def ingest(self, path: Path | None = None):
        return self("POST", "/ingest", json={"path": str(path or self.docs)})

    def states(self, **params) -> dict[str, str]:
        return {a["name"]: a["state"] for a in self("GET", "/code/anchors", params=params)["anchors"]}

    def ask(self, query: str, who: str = "internal"):
        return self("POST", "/search/answer", who, json={"query": query})


@pytest.fixture
def shop(database, tmp_path):
    shop = Shop(database, tmp_path)
    yield shop
    shop.runtime.close()


EXIST = {"Order": "exist", "Order.place()": "exist", "LegacyOrder": "unbound", "com/shop/Order.java": "exist"}


def test_the_first_ingest_takes_the_code_in_and_binds_what_documents_name(shop) -> None:
    body = shop.ingest()
    assert body["code"] == {"files": 1, "indexed": 1, "removed": 0, "symbols": 8, "bound": 3}
    assert body["errors"] == []
    assert shop.states() == EXIST
    assert shop.ingest(shop.code)["code"] == {"files": 1, "indexed": 0, "removed": 0, "symbols": 0, "bound": 0}


def test_anchors_follow_the_code(shop) -> None:
    shop.ingest()
    shop.write(ORDER.replace("send(n);", "send(n); /* as before */"))
    assert shop.ingest(shop.code)["code"]["indexed"] == 1
    assert shop.states() == EXIST, "a comment is no change"
    shop.write(ORDER.replace("send(n)", "send(n + 1)"))
    shop.ingest(shop.code / "com" / "shop" / "Order.java")
    changed = {"Order": "changed", "Order.place()": "changed", "com/shop/Order.java": "changed"}
    assert shop.states(state="changed") == changed
    shop("POST", "/ingest", json={"path": str(shop.docs), "force": True})
    assert shop.states(state="changed") == changed, "indexing the same words anew does not make them true"
    (shop.docs / "limits.md").write_text(DOCUMENT.replace("at most 100", "at most 200"), encoding="utf-8")
    shop.ingest()
    assert shop.states() == EXIST, "whoever wrote the passage anew saw the code as it is"
    (shop.code / "com" / "shop" / "Order.java").unlink()
    assert shop.ingest(shop.code)["code"]["removed"] == 1
    assert set(shop.states().values()) == {"gone", "unbound"}
    shop.write(ORDER, "moved/Order.java")
    shop.ingest(shop.code)
    assert shop.states(state="changed") == {"Order": "changed", "Order.place()": "changed"}
    assert shop.states(state="gone") == {"com/shop/Order.java": "gone"}


def test_answers_show_both_values_and_what_became_of_the_code(shop) -> None:
    shop.ingest()
    shop.write(ORDER.replace("send(n)", "send(n + 1)"))
    shop.ingest(shop.code)
    body = shop.ask("How many items per order are allowed?")
    assert [(v["name"], v["value"], v["claimed"]) for v in body["code_values"]] == [
        ("MAX_ITEMS_PER_ORDER", "200", "100 items")
    ]
    assert (
        "The document says 100 items, the code has MAX_ITEMS_PER_ORDER = 200 (app/com/shop/Order.java:4)"
        in body["answer"]
    )
    assert "`Order.place()` has changed" in body["answer"]
    assert body["unverified"]["sentences"] == []
    korean = shop.ask("items per order 한도는?")
    assert "코드의 MAX_ITEMS_PER_ORDER = 200" in korean["answer"]
    assert "`Order.place()`" in korean["answer"]
    assert korean["unverified"]["sentences"] == []
    tool = answer_result(body)
    assert {(a.name, a.state) for a in tool.code_anchors} == {
        ("Order", "changed"),
        ("Order.place()", "changed"),
        ("com/shop/Order.java", "changed"),
    }
    assert [(v.name, v.claimed) for v in tool.code_values] == [("MAX_ITEMS_PER_ORDER", "100 items")]


def test_code_is_internal_and_of_one_tenant(shop) -> None:
    shop("POST", "/ingest", json={"path": str(shop.docs), "classification": "PUBLIC"})
    assert [v["value"] for v in shop("GET", "/code/values", params={"concept": "items per order"})["values"]] == ["200"]
    assert shop("GET", "/code/grades", params={"enum_name": "GradeType"})["blocked"] == {
        "GUEST": ["purge"],
        "ADMIN": [],
    }
    assert shop("GET", "/code/values", params={"concept": "hidden limit"})["values"] == [], (
        "a link out of the root is not followed"
    )
    for who in ("public", "foreign"):
        assert shop("GET", "/code/values", who, params={"concept": "items per order"})["values"] == []
        assert shop("GET", "/code/anchors", who, params={"state": "exist"})["anchors"] == []
        shop("GET", "/code/grades", who, 404, params={"enum_name": "GradeType"})
        assert shop.ask("How many items per order are allowed?", who)["code_values"] == []
    assert shop("GET", "/code/anchors", "foreign")["anchors"] == []


def test_a_file_that_cannot_be_read_is_a_problem_and_keeps_what_is_known(shop) -> None:
    shop.ingest()
    shop.write("\0binary")
    body = shop.ingest(shop.code)
    assert [(e["path"], e["stage"]) for e in body["errors"]] == [("com/shop/Order.java", "code")]
    assert shop.states() == EXIST


def test_a_root_that_is_not_there_forgets_nothing(shop) -> None:
    shop.ingest()
    control = shop.runtime.get(CodeControl)
    assert isinstance(control, CodeIndex)
    shop.code.rename(shop.code.with_name("away"))
    assert control.refresh("default").removed == 0
    assert shop.states() == EXIST
