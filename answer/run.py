"""Questions to answers: gather, narrate, verify. The shell; everything that decides is pure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime

from answer.abstain import abstention
from answer.confidence import confidence, parts
from answer.gather import gather
from answer.sources import Ports
from answer.verify import verify
from nexus import telemetry_spans
from nexus.errors import BadQuestion, ModelUnavailable, Overloaded
from nexus.model.registry import Registry
from nexus.ports.answers import Answer, AnswerRequest, Narrator, Packet, StreamEvent, Verification

MAX_QUERY = 4_000
MAX_HISTORY = 20


class AnswerService:
    """Implements `nexus.ports.answers.Answerer`. `snapshot` makes one transaction of all reads of a packet; `elapsed_ms` is a stop watch."""

    def __init__(
        self,
        ports: Ports,
        narrator: Narrator,
        now: Callable[[], datetime],
        *,
        snapshot: Callable[[], AbstractContextManager[None]] = nullcontext,
        elapsed_ms: Callable[[], float] = lambda: 0.0,
        max_concurrent: int = 16,
    ) -> None:
        self._ports, self._narrator, self._now = ports, narrator, now
        self._snapshot, self._elapsed = snapshot, elapsed_ms
        self._slots = threading.BoundedSemaphore(max_concurrent)

    def packet(self, request: AnswerRequest) -> Packet:
        """The evidence alone."""
        return self._gather(request)[0]

    def answer(self, request: AnswerRequest) -> Answer:
        """The last event of the stream."""
        for event in self.stream(request):
            if event.answer is not None:
                return event.answer
        raise AssertionError  # the stream always ends in an answer

    def stream(self, request: AnswerRequest) -> Iterator[StreamEvent]:
        """Evidence, deltas, done. A failing model ends in an answer of the evidence with the reason. Overloaded above the limit of answers in the making."""
        if not self._slots.acquire(blocking=False):
            raise Overloaded("too many answers are in the making (NEXUS_ANSWER__MAX_CONCURRENT)", retry_after=2.0)
        began = self._elapsed()
        try:
            yield from self._steps(request)
        finally:
            self._slots.release()
            telemetry_spans.record(telemetry_spans.QUESTION, (self._elapsed() - began) / 1000)

    def _steps(self, request: AnswerRequest) -> Iterator[StreamEvent]:
        began = self._elapsed()
        packet, registry = self._gather(request)
        yield StreamEvent("evidence", packet=packet)
        refusal = abstention(packet)
        if refusal is not None:
            yield StreamEvent("done", answer=self._abstained(packet, refusal, began))
            return
        text, failure = "", ""
        try:
            for piece in self._narrator.narrate(packet):
                text += piece
                yield StreamEvent("delta", text=piece)
        except ModelUnavailable as error:
            failure = str(error)
            yield StreamEvent("error", text=failure)
        if failure and not text.strip():
            yield StreamEvent("done", answer=self._evidence_only(packet, failure, began))
            return
        if not text.strip():
            refusal = abstention(replace(packet, passages=(), edges=()))
            assert refusal is not None
            yield StreamEvent("done", answer=self._abstained(packet, refusal, began))
            return
        yield StreamEvent("done", answer=self._checked(text, failure, packet, registry, began))

    def _gather(self, request: AnswerRequest) -> tuple[Packet, Registry]:
        if not request.query.strip():
            raise BadQuestion("query: the question is empty")
        if len(request.query) > MAX_QUERY:
            raise BadQuestion(f"query: longer than {MAX_QUERY} characters")
        kept = replace(request, history=request.history[-MAX_HISTORY:])
        with self._snapshot():
            return gather(kept, self._ports, self._now())

    def _abstained(self, packet: Packet, refusal: tuple[str, str], began: float) -> Answer:
        text, reason = refusal
        return Answer(
            text,
            packet,
            Verification(),
            0.0,
            "none",
            abstained=True,
            abstain_reason=reason,
            degraded=packet.degraded,
            took_ms=self._elapsed() - began,
        )

    def _evidence_only(self, packet: Packet, failure: str, began: float) -> Answer:
        """The model failed before a word: the evidence and the reason."""
        text = (
            f"답변을 작성하지 못했습니다({failure}). 찾은 근거는 함께 제공합니다."
            if packet.language == "ko"
            else f"No answer was written ({failure}). The evidence found is given."
        )
        degraded = (*packet.degraded, f"narrator {self._narrator.name}: {failure}")
        return Answer(
            text, packet, Verification(), 0.0, self._narrator.name, degraded=degraded, took_ms=self._elapsed() - began
        )

    def _checked(self, text: str, failure: str, packet: Packet, registry: Registry, began: float) -> Answer:
        checked = verify(text, packet, registry)
        found = parts(packet, checked)
        degraded = (*packet.degraded, *((f"narrator {self._narrator.name}: {failure}",) if failure else ()))
        return Answer(
            text.strip(),
            packet,
            checked,
            confidence(found),
            self._narrator.name,
            degraded=degraded,
            took_ms=self._elapsed() - began,
        )
