"""`POST /search/answer` and `POST /search/answer/stream`: grounded answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson
import structlog
from fastapi import APIRouter
from starlette.responses import StreamingResponse

from api.context import Context, Reader
from api.render_answer import answer_json, packet_json
from api.schemas_answer import AnswerBody, AnswerOut
from nexus.errors import NexusError
from nexus.ports.answers import Answerer, StreamEvent

ROUTER = APIRouter(tags=["answers"])
# One server-sent event: its name, and JSON as text.
EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["evidence", "graph", "delta", "done", "error"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
log = structlog.get_logger("nexus.answer")


@ROUTER.post("/search/answer", response_model=AnswerOut)
def search_answer(context: Context, reader: Reader, body: AnswerBody) -> dict[str, Any]:
    """Answer from documents and telemetry, with every citation and number checked; abstains where nothing can be cited."""
    return answer_json(context.services.get(Answerer).answer(body.request(reader)))


@ROUTER.post(
    "/search/answer/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": EVENT}},
            "description": "Events: evidence, graph, delta, done, error.",
        }
    },
)
def search_answer_stream(context: Context, reader: Reader, body: AnswerBody) -> StreamingResponse:
    """The same as server-sent events. Text of `delta` is unverified; `done` carries the whole answer with its check."""
    events = context.services.get(Answerer).stream(body.request(reader))
    # What fails before any evidence is there is a problem and no stream.
    first = next(events)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(chain([first], events)), media_type="text/event-stream", headers=headers)


def _stream(events: Iterator[StreamEvent]) -> Iterator[bytes]:
    try:
        for event in events:
            yield from _event(event)
    except NexusError as error:
        yield _sse("error", {"code": error.code, "detail": str(error)})
    except Exception as error:  # the response has begun: the stream is where the client must learn of it
        log.exception("answer_stream_failed", error=type(error).__name__)
        yield _sse("error", {"code": "invariant_broken", "detail": "an internal error; it has been logged"})


def _event(event: StreamEvent) -> Iterator[bytes]:
    if event.packet is not None:
        body = packet_json(event.packet)
        graph = body.pop("graph")
        yield _sse("evidence", body)
        yield _sse("graph", graph)
    elif event.answer is not None:
        yield _sse("done", answer_json(event.answer))
    elif event.kind == "error":
        yield _sse("error", {"code": "model_unavailable", "detail": event.text})
    else:
        yield _sse("delta", {"text": event.text, "verified": False})


def _sse(event: str, data: dict[str, Any]) -> bytes:
    # JSON has no bare line breaks, so one data line is enough.
    return b"event: " + event.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"
