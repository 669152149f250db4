"""A local server that speaks the wire format of Anthropic's Messages API: JSON and server-sent events, errors, delays, overload.

    with FakeAnthropic(lambda request: "checkout calls fx [E1].") as server:
        AnthropicNarrator(api_key="k", base_url=server.url, ...)

The reply is text, a `Fault`, or a list of both that is used up request by request.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Fault:
    """What goes wrong: a status with an error type, or (`after` >= 0) that many pieces of `text` before an error event, a cut or a pause."""

    status: int = 0
    kind: str = "api_error"
    retry_after: str = ""
    text: str = ""
    after: int = -1
    cut: bool = False
    pause_s: float = 0.0
    stop_reason: str = "end_turn"


Reply = str | Fault
Script = Reply | Sequence[Reply] | Callable[[dict[str, Any]], Reply]


@dataclass
class FakeAnthropic:
    """`requests` are the bodies received, `headers` theirs. `url` is the base URL."""

    script: Script
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Listen on a free port of loopback."""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                fake._serve(self)

            def log_message(self, *_: object) -> None:
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def _next(self, body: dict[str, Any]) -> Reply:
        if callable(self.script):
            return self.script(body)
        if isinstance(self.script, str | Fault):
            return self.script
        return self.script[min(len(self.requests) - 1, len(self.script) - 1)]

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers.get("content-length", "0"))) or b"{}")
        self.headers.append({key.lower(): value for key, value in handler.headers.items()})
        self.requests.append(body)
        problem = _invalid(handler, body)
        reply = problem or self._next(body)
        if isinstance(reply, Fault) and reply.status:
            time.sleep(reply.pause_s)
            _error(handler, reply)
        elif body.get("stream"):
            _stream(handler, body, reply)
        else:
            _json(handler, 200, _message(body, reply if isinstance(reply, str) else reply.text, "end_turn"))


def _invalid(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> Fault | None:
    """What the API refuses too."""
    if handler.path != "/v1/messages":
        return Fault(404, "not_found_error")
    # Version 2 of the SDK sends the key as a bearer token; the older header is still taken.
    if not (handler.headers.get("x-api-key") or handler.headers.get("authorization", "").startswith("Bearer ")):
        return Fault(401, "authentication_error")
    if not handler.headers.get("anthropic-version"):
        return Fault(400, "invalid_request_error")
    complete = (
        {"model", "messages", "max_tokens"} <= set(body) and body["messages"] and body["messages"][0]["role"] == "user"
    )
    return None if complete else Fault(400, "invalid_request_error")


def _json(
    handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
) -> None:
    data = json.dumps(body).encode()
    handler.send_response(status)
    for key, value in {
        "content-type": "application/json",
        "content-length": str(len(data)),
        "request-id": "req_fake",
        **(headers or {}),
    }.items():
        handler.send_header(key, value)
    handler.end_headers()
    handler.wfile.write(data)


def _error(handler: BaseHTTPRequestHandler, fault: Fault) -> None:
    body = {"type": "error", "error": {"type": fault.kind, "message": fault.kind}, "request_id": "req_fake"}
    _json(handler, fault.status, body, {"retry-after": fault.retry_after} if fault.retry_after else None)


def _message(body: dict[str, Any], text: str, stop: str | None) -> dict[str, Any]:
    return {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": len(text.split())},
    }


def _stream(handler: BaseHTTPRequestHandler, body: dict[str, Any], reply: Reply) -> None:
    fault = reply if isinstance(reply, Fault) else Fault(text=reply)
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream; charset=utf-8")
    handler.send_header("connection", "close")
    handler.end_headers()

    def send(kind: str, data: dict[str, Any]) -> None:
        handler.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
        handler.wfile.flush()

    try:
        send("message_start", {"message": _message(body, "", None)})
        send("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})
        send("ping", {})
        words = fault.text.split(" ")
        for number, word in enumerate(words):
            if number == fault.after:
                time.sleep(fault.pause_s)
                if fault.cut:
                    handler.close_connection = True
                    return
                if not fault.pause_s:
                    send("error", {"error": {"type": fault.kind, "message": fault.kind}})
                    return
            send(
                "content_block_delta",
                {"index": 0, "delta": {"type": "text_delta", "text": word if number == 0 else f" {word}"}},
            )
        send("content_block_stop", {"index": 0})
        send(
            "message_delta",
            {
                "delta": {"stop_reason": fault.stop_reason, "stop_sequence": None},
                "usage": {"output_tokens": len(words)},
            },
        )
        send("message_stop", {})
    except (BrokenPipeError, ConnectionResetError):
        handler.close_connection = True
