"""gRPC's own services beside the one for traces: health checking and reflection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError, Message
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from collector_receiver.sources.grpc_calls import Call

Code = grpc.StatusCode
NAMES: Final = (health.SERVICE_NAME, reflection.SERVICE_NAME)
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING
_UNKNOWN: Final = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Health:
    """`grpc.health.v1` of services that are there from the start until `stop`."""

    def __init__(self, services: Sequence[str]) -> None:
        self._status = dict.fromkeys(("", *services), _SERVING)
        # Who watches, and whether the first answer is out: only one is on its way at a time.
        self._watching: dict[Call, bool] = {}
        self._stopped = False
        self._lock = threading.Lock()

    @property
    def methods(self) -> dict[str, Callable[[Call], None]]:
        """By their paths."""
        return {
            f"/{health.SERVICE_NAME}/Check": lambda call: call.read(partial(self._check, call)),
            f"/{health.SERVICE_NAME}/Watch": lambda call: call.read(partial(self._watch, call)),
        }

    def stop(self) -> None:
        """Tell everybody, who watches and who asks, that nothing is served any more."""
        with self._lock:
            self._stopped, self._status = True, dict.fromkeys(self._status, _NOT_SERVING)
            watching, self._watching = self._watching, {}
        for call, answered in watching.items():
            _leave(call, _NOT_SERVING if answered else None)

    def _check(self, call: Call, body: bytes | None) -> None:
        asked = _parsed(call, health_pb2.HealthCheckRequest, body)
        if asked is None:
            return
        status = self._status.get(asked.service)
        if status is None:
            call.finish(Code.NOT_FOUND, "there is no such service")
        else:
            call.finish(Code.OK, message=_response(status))

    def _watch(self, call: Call, body: bytes | None) -> None:
        asked = _parsed(call, health_pb2.HealthCheckRequest, body)
        if asked is None:
            return
        with self._lock:
            status, stopped = self._status.get(asked.service, _UNKNOWN), self._stopped
            if not stopped:
                self._watching[call] = False
        if stopped:
            _leave(call, status)
            return
        call.when_closed(lambda: self._forget(call))
        call.write(_response(status), lambda: self._answered(call))

    def _answered(self, call: Call) -> None:
        with self._lock:
            if call in self._watching:
                self._watching[call] = True

    def _forget(self, call: Call) -> None:
        with self._lock:
            self._watching.pop(call, None)


class Reflection:
    """`grpc.reflection.v1alpha`: what is served, and its descriptors."""

    def __init__(self, services: Sequence[str]) -> None:
        self._servicer = reflection.ReflectionServicer(services)

    @property
    def methods(self) -> dict[str, Callable[[Call], None]]:
        """By their paths."""
        return {f"/{reflection.SERVICE_NAME}/ServerReflectionInfo": self._read}

    def _read(self, call: Call) -> None:
        call.read(partial(self._answer, call))

    def _answer(self, call: Call, body: bytes | None) -> None:
        if body is None:
            call.finish(Code.OK)
            return
        asked = _parsed(call, reflection_pb2.ServerReflectionRequest, body)
        if asked is not None:
            [answer] = self._servicer.ServerReflectionInfo(iter([asked]), None)
            call.write(answer.SerializeToString(), partial(self._read, call))


def _leave(call: Call, status: int | None) -> None:
    call.finish(Code.UNAVAILABLE, "the service stops", None if status is None else _response(status))


def _response(status: int) -> bytes:
    return bytes(health_pb2.HealthCheckResponse(status=status).SerializeToString())


def _parsed(call: Call, kind: type[Message], body: bytes | None) -> Any:
    """The message; None where there is none, and the call ends with that."""
    try:
        if body is not None:
            return kind.FromString(body)
    except DecodeError:
        pass
    call.finish(Code.INVALID_ARGUMENT, f"no {kind.DESCRIPTOR.name}")
    return None
