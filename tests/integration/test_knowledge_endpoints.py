"""Endpoints that embed, from the settings to the search, against a server on this machine that is sometimes busy."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import stamina

from knowledge.embedding import PassageEmbedding
from nexus.errors import Conflict
from nexus.model.document import Classification
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.ports.search import Retriever, SearchRequest
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.wiring.runtime import Runtime

WORDS = ("ledger", "refund", "queue", "broker")


def vector(text: str, dimension: int) -> list[float]:
    return [float(text.count(word)) for word in WORDS] + [0.1] * (dimension - len(WORDS))


class Server(ThreadingHTTPServer):
    """Speaks both; every third request finds it busy."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str, list[str]]] = []
        self.requests = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests += 1
        if self.server.requests % 3 == 0:
            self.send_error(503)
            return
        self.server.asked.append((self.path, body["model"], body["input"]))
        if self.path == "/api/embed":
            answer = {"embeddings": [vector(text, 768) for text in body["input"]]}
        else:
            answer = {
                "data": [
                    {"index": n, "embedding": vector(text, 1024)}
                    for n, text in reversed(list(enumerate(body["input"])))
                ]
            }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    stamina.set_testing(True, attempts=3)
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
    stamina.set_testing(False)


def test_ollama_serves_then_the_index_moves_to_an_openai_endpoint(
    database: Database, server: Server, tmp_path: Path
) -> None:
    docs = (tmp_path / "docs").resolve()
    docs.mkdir()
    for number, word in enumerate(WORDS):
        (docs / f"{word}.md").write_text(
            f"# Doc {number}\n\nabout the {word}\n\n## More\n\n{word} again\n", encoding="utf-8"
        )

    def runtime(**knowledge: object) -> Runtime:
        return Runtime(
            load_settings(
                {"data": tmp_path / "data", "docs": {"roots": (docs,)}, "knowledge": {"embed_batch": 3, **knowledge}}
            ),
            database,
        )

    def found(at: Runtime) -> str:
        request = SearchRequest("refund", "default", Classification.INTERNAL, route="vector_only")
        return at.get(Retriever).search(request).hits[0].passage.document.title  # type: ignore[type-abstract]

    first = runtime(embedder="ollama", embed_url=server.url)
    result = first.get(DocumentControl).ingest(IngestRequest(docs))  # type: ignore[type-abstract]
    assert (result["indexed"], result["vectors_pending"], result["errors"]) == (4, 0, [])
    texts = [text for _, _, asked in server.asked for text in asked]
    assert {(path, model) for path, model, _ in server.asked} == {("/api/embed", "nomic-embed-text")}
    assert len(texts) == len(set(texts)) == 8 and all(text.startswith("search_document: ") for text in texts)
    assert max(len(asked) for _, _, asked in server.asked) == 3
    assert found(first) == "Doc 1" and server.asked[-1][2] == ["search_query: refund"]
    # What is in the cache of this model is not asked for again.
    before = len(server.asked)
    assert first.get(DocumentControl).ingest(IngestRequest(docs, force=True))["vectors_pending"] == 0  # type: ignore[type-abstract]
    assert len(server.asked) == before

    second = runtime(embedder="openai", embed_url=f"{server.url}/v1")
    with pytest.raises(Conflict, match="reembed"):
        second.get(DocumentControl).ingest(IngestRequest(docs, force=True))  # type: ignore[type-abstract]
    seen: list[tuple[int, int]] = []

    def during(done: int, total: int, _: str) -> None:
        seen.append((done, total))
        # The old generation serves until the new one is whole.
        assert found(first) == "Doc 1"

    assert second.get(PassageEmbedding).move("default", during) == ("nlpai-lab-kure-v1-1024", 8)
    assert seen[-1] == (8, 8)
    assert {path for path, model, _ in server.asked if model == "nlpai-lab/KURE-v1"} == {"/v1/embeddings"}
    assert found(second) == "Doc 1"
    for at in (first, second):
        at.get(PassageEmbedding).close()
