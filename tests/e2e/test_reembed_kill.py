"""`nexus reembed` killed halfway by SIGKILL: the old generation serves all along, and the next run asks for the rest only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nexus.model.document import Classification
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.ports.search import Retriever, SearchRequest
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.wiring.runtime import Runtime

PASSAGES = 160
WAIT_S = 120


class Server(ThreadingHTTPServer):
    """An Ollama that stops answering for the model `second` after two requests, until it is told to go on."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.asked: list[str] = []
        self.stuck, self.go_on = threading.Event(), threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["model"] == "second":
            if len(self.server.asked) >= 64 and not self.server.go_on.is_set():
                self.server.stuck.set()
                return
            self.server.asked += body["input"]
        vectors = [[1.0 + text.count("refund")] + [0.5] * 31 for text in body["input"]]
        data = json.dumps({"embeddings": vectors}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


def test_a_killed_move_is_taken_up_again(database: Database, database_url: str, server: Server, tmp_path: Path) -> None:
    docs = (tmp_path / "docs").resolve()
    docs.mkdir()
    for number in range(PASSAGES // 4):
        (docs / f"{number}.md").write_text(
            "".join(f"# Refund {number} {n}\n\nwords {number} {n}\n\n" for n in range(4))
        )
    knowledge = {"embedder": "ollama", "embed_url": server.url, "embed_model": "first", "embed_dimension": 32}
    runtime = Runtime(
        load_settings({"data": tmp_path / "data", "docs": {"roots": (docs,)}, "knowledge": knowledge}), database
    )
    assert runtime.get(DocumentControl).ingest(IngestRequest(docs))["passages"] == PASSAGES  # type: ignore[type-abstract]
    environment = os.environ | {
        "NEXUS_DATABASE__URL": database_url,
        "NEXUS_DATA": str(tmp_path / "data"),
        **{f"NEXUS_KNOWLEDGE__{name.upper()}": str(value) for name, value in knowledge.items()},
        "NEXUS_KNOWLEDGE__EMBED_MODEL": "second",
    }

    def move() -> subprocess.Popen[str]:
        code = "from nexus.cli import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", code, "reembed", "--json"], env=environment, stdout=subprocess.PIPE, text=True
        )

    def found() -> tuple[tuple[str, ...], int | None]:
        request = SearchRequest("refund 7 words", "default", Classification.INTERNAL, route="vector_only")
        result = runtime.get(Retriever).search(request)  # type: ignore[type-abstract]
        return result.degraded, result.hits[0].vector_rank

    killed = move()
    assert server.stuck.wait(WAIT_S)
    killed.kill()
    killed.wait(WAIT_S)
    before = list(server.asked)
    assert 0 < len(before) < PASSAGES
    assert found() == ((), 1)
    server.go_on.set()
    again = move()
    out, _ = again.communicate(timeout=WAIT_S)
    assert again.returncode == 0
    assert json.loads(out) == {"tenant": "default", "generation": "second-32", "vectors": PASSAGES}
    # Nothing that was embedded before is asked for again.
    assert len(server.asked) == len(set(server.asked)) == PASSAGES
    with database.connection() as connection:
        (serving,) = connection.execute("SELECT name FROM generation_serving").fetchone() or ("",)
    assert serving == "second-32"
    runtime.close()
