"""Answers over HTTP: shapes, streams, limits, clearance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from answer.run import AnswerService
from api.app import build_app
from nexus.errors import ModelUnavailable
from nexus.ports.answers import Answerer, Packet
from nexus.testing.answering import ports, service
from nexus.testing.services import double_context
from nexus.testing.shop import NOW

APP = build_app(double_context())


def client(token: str = "internal", app: Any = APP) -> TestClient:
    return TestClient(app, headers={"Authorization": f"Bearer {token}"}, raise_server_exceptions=False)


def test_the_request_of_the_quickstart_works_as_printed() -> None:
    response = client().post(
        "/search/answer", json={"query": "결제 서비스는 누가 호출하나요?", "clearance": "INTERNAL"}
    )
    assert response.status_code == 200
    body = response.json()
    assert body["answer"].startswith("payment를 사용하는 쪽: checkout [E1].")
    assert {
        "results",
        "graph",
        "fit",
        "route_used",
        "degraded",
        "took_ms",
        "answer",
        "abstained",
        "abstain_reason",
        "confidence",
        "citations",
        "numbers",
        "unverified",
        "evidence",
        "document_debt",
        "code_anchors",
        "code_values",
        "narrator",
    } <= set(body)
    edge = body["evidence"]["edges"][0]
    assert (edge["marker"], edge["rid"], edge["layer"], edge["source"]["name"]) == ("E1", "o04", "observed", "checkout")
    assert body["citations"][0] == {
        "marker": "E1",
        "kind": "edge",
        "rid": "o04",
        "verified": True,
        "reason": None,
        "sentence": 0,
    }
    assert body["unverified"] == {"citations": 0, "numbers": 0, "sentences": []}
    assert {"value": 940.0, "unit": "호출", "verified": True}.items() <= body["numbers"][0].items()


def events(response: Any) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in response.text.strip().split("\n\n"):
        kind, _, data = block.partition("\n")
        found.append((kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_a_stream_ends_in_the_checked_answer() -> None:
    response = client().post("/search/answer/stream", json={"query": "why does checkout call fx?"})
    assert response.headers["content-type"].startswith("text/event-stream")
    found = events(response)
    assert [kind for kind, _ in found[:2]] == ["evidence", "graph"]
    assert found[-1][0] == "done"
    deltas = [data for kind, data in found if kind == "delta"]
    assert all(delta["verified"] is False for delta in deltas)
    assert "".join(delta["text"] for delta in deltas).strip() == found[-1][1]["answer"]
    plain = client().post("/search/answer", json={"query": "why does checkout call fx?"}).json()
    assert {k: v for k, v in found[-1][1].items() if k != "took_ms"} == {
        k: v for k, v in plain.items() if k != "took_ms"
    }


class Breaking:
    """Fails after a piece."""

    name = "breaking"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def narrate(self, packet: Packet) -> Iterator[str]:
        yield f"{packet.edges[0].edge.source.name} calls "
        raise self._error


def test_a_stream_says_that_the_model_failed_and_gives_the_evidence() -> None:
    app = build_app(double_context({Answerer: service(Breaking(ModelUnavailable("the model is overloaded")))}))
    found = events(client(app=app).post("/search/answer/stream", json={"query": "who calls fx?"}))
    assert [kind for kind, _ in found] == ["evidence", "graph", "delta", "error", "done"]
    assert found[3][1] == {"code": "model_unavailable", "detail": "the model is overloaded"}
    assert found[4][1]["degraded"] == ["narrator breaking: the model is overloaded"]


def test_a_bug_in_a_stream_is_an_event_without_details() -> None:
    app = build_app(double_context({Answerer: service(Breaking(RuntimeError("secret detail")))}))
    found = events(client(app=app).post("/search/answer/stream", json={"query": "who calls fx?"}))
    assert found[-1] == ("error", {"code": "invariant_broken", "detail": "an internal error; it has been logged"})


def test_too_many_answers_at_once_are_refused_with_a_time() -> None:
    busy = AnswerService(ports(), Breaking(ModelUnavailable("x")), lambda: NOW, max_concurrent=1)
    held = busy.stream(__import__("nexus.testing.answering", fromlist=["ask"]).ask("who calls fx?"))
    next(held)
    app = build_app(double_context({Answerer: busy}))
    for path in ("/search/answer", "/search/answer/stream"):
        response = client(app=app).post(path, json={"query": "who calls fx?"})
        assert (response.status_code, response.headers["retry-after"], response.json()["code"]) == (
            503,
            "2",
            "overloaded",
        )
    held.close()
    assert client(app=app).post("/search/answer", json={"query": "who calls fx?"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "x", "surprise": 1}, "surprise"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x", "top_k": 0}, "top_k"),
        ({"query": "x", "top_k": 101}, "top_k"),
        ({"query": "x", "route": "best"}, "route"),
        ({"query": "x", "clearance": "SECRET"}, "clearance"),
        ({"query": "x" * 4001}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({}, "query"),
        ({"query": "x", "from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "to"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(body: dict[str, Any], field: str) -> None:
    response = client().post("/search/answer", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert field in response.json()["detail"]


def test_clearance_can_only_be_lowered() -> None:
    question = {"query": "Which orders are reviewed by hand above 9000 euros?"}
    assert "9000" not in json.dumps(
        client("internal").post("/search/answer", json={**question, "clearance": "RESTRICTED"}).json()["evidence"]
    )
    assert "9000" in client("restricted").post("/search/answer", json=question).json()["answer"]
    assert "9000" not in json.dumps(
        client("restricted").post("/search/answer", json={**question, "clearance": "INTERNAL"}).json()["evidence"]
    )


def test_namespaces_of_a_token_hold() -> None:
    assert (
        client("narrow").post("/search/answer", json={"query": "who calls fx?", "namespace": "default"}).status_code
        == 403
    )
    body = client("narrow").post("/search/answer", json={"query": "What is the limit of items per order?"}).json()
    assert (body["abstained"], body["results"]) == (True, [])
    assert client("ingester").post("/search/answer", json={"query": "who calls fx?"}).status_code == 403


def test_graph_by_name_alias_and_rid() -> None:
    for name in ("fx", "currency-converter", "e-fx", "환율 서비스"):
        body = client().get(f"/graph/{name}").json()
        assert body["entity"]["rid"] == "e-fx"
        assert [e["rid"] for e in body["edges"]] == ["o03", "g02"]
    two = client().get("/graph/fx", params={"hops": 2}).json()
    assert {n["hops"] for n in two["nodes"]} == {0, 1, 2}
    assert client().get("/graph/kafka/order.created").json()["entity"]["kind"] == "topic"
    assert client().get("/graph/zorblax").status_code == 404
    ambiguous = client().get("/graph/inventory")
    assert ambiguous.status_code == 422
    assert "warehouse/inventory" in ambiguous.json()["detail"]
    assert client().get("/graph/fx", params={"hops": 3}).status_code == 422
    assert [e["rid"] for e in client().get("/graph/fx", params={"layer": "designed"}).json()["edges"]] == ["g02"]


def test_path_follows_work() -> None:
    body = client().get("/path", params={"from": "frontend", "to": "email"}).json()
    assert [[n["name"] for n in p["nodes"]] for p in body["paths"]] == [
        ["frontend", "checkout", "kafka/order.created", "email"]
    ]
    assert client().get("/path", params={"from": "email", "to": "frontend"}).json()["paths"] == []


def test_why_by_two_names() -> None:
    body = client().get("/why", params={"from": "checkout", "to": "currency-converter"}).json()
    assert "POST /checkout triggers Convert (940 calls)" in body["answer"]
    assert body["question"]["kind"] == "why"
    korean = client().get("/why", params={"from": "checkout", "to": "fx", "language": "ko"}).json()
    assert "원인이 되는 작업" in korean["answer"]
    unknown = client().get("/why", params={"from": "checkout", "to": "nothing-like-it"}).json()
    assert unknown["abstain_reason"] == "unknown_name"


def test_openapi_is_3_1_and_describes_problems_and_the_token() -> None:
    document = client().get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert "HTTPValidationError" not in document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert all(
                "application/problem+json" in described["content"]
                for status, described in operation["responses"].items()
                if status >= "4"
            ), path
            assert ("401" in operation["responses"]) is (path not in {"/healthz", "/readyz"}), path


def test_unknown_and_repeated_parameters_are_refused() -> None:
    for query in ("limt=3", "text=a&text=b", "text=%00"):
        response = client().get(f"/suggest?{query}")
        assert (response.status_code, response.json()["code"]) == (422, "bad_question"), query


@pytest.mark.parametrize("path", ["/edges/a%00b", "/graph/%00", "/diff/findings/%00", "/documents/%00/history"])
def test_a_path_that_cannot_be_stored_is_refused(path: str) -> None:
    response = client().get(path)
    assert (response.status_code, response.json()["code"]) == (422, "bad_question")


def test_every_entity_that_a_question_names_opens_its_neighbourhood() -> None:
    def graph(query: str) -> dict[str, Any]:
        return client().post("/search", json={"query": query}).json()["graph"]

    one, other, both = graph("what about email?"), graph("what about fx?"), graph("what have email and fx in common?")
    assert (one["named"], other["named"], both["named"]) == (["e-email"], ["e-fx"], ["e-email", "e-fx"])

    def named(body: dict[str, Any]) -> dict[str, int]:
        return {node["name"]: node["hops"] for node in body["nodes"]}

    assert both["entity"] == one["entity"]
    assert named(one) != named(other)
    assert named(both) == {
        name: min(side[name] for side in (named(one), named(other)) if name in side)
        for name in {**named(one), **named(other)}
    }
    rids = [edge["rid"] for edge in both["edges"]]
    assert sorted(rids) == sorted({edge["rid"] for body in (one, other) for edge in body["edges"]})
    assert [edge["marker"] for edge in both["edges"]] == [f"E{n}" for n in range(1, len(rids) + 1)]
    assert [edge["hops"] for edge in both["edges"]] == sorted(edge["hops"] for edge in both["edges"])
