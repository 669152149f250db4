"""A local Slack: the web API's methods that the bot uses, and a socket-mode connection that sends events and takes acknowledgements."""

from __future__ import annotations

import json
import threading
import urllib.parse
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

BOT = "UBOT"


@dataclass
class FakeSlack:
    """`posted` are messages by `chat.postMessage`; `threads` what `conversations.replies` gives by thread; `acknowledged` envelope ids."""

    threads: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    posted: list[dict[str, Any]] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    # Error names that the next calls of a method answer with.
    refuse: dict[str, list[str]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Listen on free ports of loopback."""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                fake._call(self)

            def do_GET(self) -> None:
                fake._call(self)

            def log_message(self, *_: object) -> None:
                """Silent."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.api_url = f"http://127.0.0.1:{self._http.server_address[1]}/api/"
        self._socket = serve(self._connection, "127.0.0.1", 0)
        self.socket_url = f"ws://127.0.0.1:{self._socket.socket.getsockname()[1]}/link"
        self._connections: list[ServerConnection] = []
        self.connected = threading.Event()
        self._threads = [
            threading.Thread(target=target, daemon=True)
            for target in (self._http.serve_forever, self._socket.serve_forever)
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._socket.shutdown()
        self._http.shutdown()
        self._http.server_close()

    def _connection(self, connection: ServerConnection) -> None:
        self._connections.append(connection)
        connection.send(json.dumps({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}}))
        self.connected.set()
        try:
            for message in connection:
                self.acknowledged.append(json.loads(message).get("envelope_id", ""))
        except (ConnectionClosed, ValueError):
            return

    def event(self, envelope: str, event: dict[str, Any], event_id: str) -> None:
        """Send an event as Slack does."""
        payload = {
            "token": "t",
            "team_id": "T1",
            "api_app_id": "A1",
            "type": "event_callback",
            "event_id": event_id,
            "event_time": 1,
            "event": event,
            "authorizations": [{"team_id": "T1", "user_id": BOT, "is_bot": True}],
        }
        self._connections[-1].send(
            json.dumps(
                {"envelope_id": envelope, "type": "events_api", "accepts_response_payload": False, "payload": payload}
            )
        )

    def _call(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        method = urllib.parse.urlsplit(handler.path).path.removeprefix("/api/")
        kind = handler.headers.get("content-type", "")
        given = (
            json.loads(body or b"{}")
            if "json" in kind
            else dict(urllib.parse.parse_qsl((body or urllib.parse.urlsplit(handler.path).query.encode()).decode()))
        )
        waiting = self.refuse.get(method) or []
        answer = {"ok": False, "error": waiting.pop(0)} if waiting else self._answer(method, given)
        data = json.dumps(answer).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json; charset=utf-8")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def _answer(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        if method == "apps.connections.open":
            return {"ok": True, "url": self.socket_url}
        if method == "auth.test":
            return {"ok": True, "user_id": BOT, "bot_id": "B1", "team_id": "T1"}
        if method == "conversations.replies":
            return {"ok": True, "messages": self.threads.get(str(given.get("ts")), [])}
        if method == "chat.postMessage":
            blocks = given.get("blocks")
            given["blocks"] = json.loads(blocks) if isinstance(blocks, str) else blocks
            problem = _over(given["blocks"] or [])
            if problem:
                return {"ok": False, "error": problem}
            self.posted.append(given)
            return {"ok": True, "ts": "9.9", "channel": given["channel"]}
        return {"ok": False, "error": "unknown_method"}


def _over(blocks: list[dict[str, Any]]) -> str:
    """Slack's own limits."""
    texts = [b["text"]["text"] for b in blocks if b["type"] == "section"]
    over = (
        len(blocks) > 50
        or any(not 1 <= len(t) <= 3000 for t in texts)
        or any(len(b["text"]["text"]) > 150 for b in blocks if b["type"] == "header")
        or any(not 1 <= len(b["elements"]) <= 10 for b in blocks if b["type"] == "context")
    )
    return "invalid_blocks" if over else ""
