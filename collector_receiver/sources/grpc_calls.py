"""A gRPC server on grpcio's completion queue: one thread for all calls, and neither a coroutine nor a thread for each.

grpcio's own servers stand on the same queue and run a call as a coroutine of several turns, or on a thread; for requests that are decoded in half a millisecond that is more
than the rest of gRPC (ADR 35). Here a call is handed over when its headers are there, and nothing happens that is not asked for: a message is read when `read` is called,
and until then waits in the sender, held back by flow control.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import grpc
import structlog
from grpc._cython import cygrpc

log = structlog.get_logger("nexus.receiver")

# How often `tick` is called, and how long it takes at most to notice that the server has stopped (s).
TICK_S: Final = 0.1
# What is left of a server that was told to cancel its calls has this long (s) to end.
CANCELLED_S: Final = 2.0
_FLAGS: Final = 0
_CALL: Final = "call"
_STOPPED: Final = "stopped"


class Call:
    """A call that came. Its methods may be called on any thread; what they are told to call runs on the server's and must not wait.

    `metadata` are the sender's pairs. A call ends with `finish`, and must: the sender waits for it.
    """

    __slots__ = ("_begun", "_call", "_closes", "metadata", "method")

    def __init__(self, event: Any) -> None:
        self._call = event.call
        self._begun = self._closes = False
        self.method: str = event.call_details.method.decode("latin-1")
        self.metadata: tuple[tuple[str, Any], ...] = event.invocation_metadata or ()

    def read(self, then: Callable[[bytes | None], None]) -> None:
        """Ask for the next message. None: there is no more, it is too large, or the sender is gone."""
        self._start([cygrpc.ReceiveMessageOperation(_FLAGS)], lambda event: then(event.batch_operations[0].message()))

    def write(self, message: bytes, then: Callable[[], None]) -> None:
        """Send one message of several; the next one when `then` is called."""
        self._start([*self._beginning(), cygrpc.SendMessageOperation(message, _FLAGS)], lambda _: then())

    def when_closed(self, then: Callable[[], None]) -> None:
        """Be told when the call is over, finished or given up by the sender."""
        self._closes = True
        self._start([cygrpc.ReceiveCloseOnServerOperation(_FLAGS)], lambda _: then())

    def finish(
        self,
        code: grpc.StatusCode,
        details: str = "",
        message: bytes | None = None,
        trailers: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        """The end of the answer, once. A sender that is gone gets none."""
        operations = self._beginning()
        if message is not None:
            operations.append(cygrpc.SendMessageOperation(message, _FLAGS))
        operations.append(
            cygrpc.SendStatusFromServerOperation(tuple(trailers) or None, code.value[0], details.encode(), _FLAGS)
        )
        if not self._closes:
            operations.append(cygrpc.ReceiveCloseOnServerOperation(_FLAGS))
        self._start(operations, _nothing)

    def _beginning(self) -> list[Any]:
        begun, self._begun = self._begun, True
        return [] if begun else [cygrpc.SendInitialMetadataOperation(None, _FLAGS)]

    def _start(self, operations: list[Any], then: Callable[[Any], None]) -> None:
        self._call.start_server_batch(operations, then)


def _nothing(_event: Any) -> None:
    pass


class GrpcServer:
    """Serves until stopped: `take` gets every call, `tick` is called ten times a second, both on the server's thread."""

    def __init__(
        self,
        arguments: Sequence[tuple[str, int]],
        take: Callable[[Call], None],
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._take, self._tick = take, tick
        self._queue = cygrpc.CompletionQueue()
        self._server = cygrpc.Server(tuple(arguments), xds=False)
        self._server.register_completion_queue(self._queue)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="grpc", daemon=True)

    def listen(self, address: str, credentials: grpc.ServerCredentials | None = None) -> int:
        """The port that was had; 0 where none was."""
        secured = () if credentials is None else (credentials._credentials,)  # noqa: SLF001  # grpcio's own servers do the same
        try:
            return int(self._server.add_http2_port(address.encode(), *secured))
        except RuntimeError:
            return 0

    def start(self) -> None:
        """Take calls."""
        self._server.start()
        self._request()
        self._thread.start()

    def stop(self, grace: float) -> None:
        """Take no more calls, give those that are there so long (s), then cancel them. Blocks."""
        if not self._thread.is_alive():
            return
        self._server.shutdown(self._queue, _STOPPED)
        if not self._ended.wait(grace):
            self._server.cancel_all_calls()
        # Not on the server's thread, which may hear of the end while `shutdown` is still at work on what would be destroyed.
        if self._ended.wait(CANCELLED_S):
            self._thread.join()
            self._server.destroy()

    def _request(self) -> None:
        with contextlib.suppress(ValueError):  # it stops
            self._server.request_call(self._queue, self._queue, _CALL)

    def _serve(self) -> None:
        due = time.monotonic()
        while not self._ended.is_set():
            event = self._queue.poll(time.time() + TICK_S)
            try:
                self._process(event)
                if time.monotonic() >= due:
                    due = time.monotonic() + TICK_S
                    self._tick()
            except Exception:  # the edge of the process: one call must not end the others
                log.exception("grpc_failed")
            # A stop waits until nothing holds a call any more.
            del event

    def _process(self, event: Any) -> None:
        if event.completion_type == cygrpc.CompletionType.queue_timeout:
            return
        if event.tag is _STOPPED:
            self._ended.set()
        elif event.tag is not _CALL:
            event.tag(event)
        elif event.success:
            self._request()
            self._take(Call(event))
