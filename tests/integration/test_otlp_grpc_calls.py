"""What calls over gRPC may do beside sending one good request: ask for health and watch it, send nothing, send twice, leave, be there when the receiver stops."""

from __future__ import annotations

import gc
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from collector_receiver.intake import Pending
from collector_receiver.otlp import Decoded
from nexus.errors import Overloaded

sys.path.insert(0, str(Path(__file__).parent))
from otlp_harness import METHOD, SERVICE, body, export, serve

SERVING, NOT_SERVING, UNKNOWN = (
    health_pb2.HealthCheckResponse.SERVING,
    health_pb2.HealthCheckResponse.NOT_SERVING,
    health_pb2.HealthCheckResponse.SERVICE_UNKNOWN,
)


@pytest.fixture
def served(tmp_path):
    server = serve(tmp_path / "spans")
    yield server
    server.stop()


@pytest.fixture
def channel(served):
    with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as made:
        yield made


def code_of(call) -> str:
    with pytest.raises(grpc.RpcError) as refused:
        call()
    return refused.value.code().name


def test_who_watches_health_is_told_of_the_stop_and_holds_it_up_for_nobody(tmp_path):
    served = serve(tmp_path / "spans")
    with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch
        known, unknown = (watch(health_pb2.HealthCheckRequest(service=name), timeout=60) for name in (SERVICE, "other"))
        assert next(known).status == SERVING
        assert next(unknown).status == UNKNOWN
        gone = watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert next(gone).status == SERVING
        gone.cancel()
        served.stop()
        assert [answer.status for answer in iter_until_end(known)] == [NOT_SERVING]
        assert known.code().name == "UNAVAILABLE"


def iter_until_end(call):
    try:
        yield from call
    except grpc.RpcError:
        return


@pytest.mark.parametrize(
    "method",
    [METHOD, "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"],
)
def test_a_call_that_sends_no_message_and_one_that_sends_what_is_none(channel, method):
    assert code_of(lambda: channel.stream_unary(method)(iter(()), timeout=30)) == "INVALID_ARGUMENT"
    assert code_of(lambda: channel.unary_unary(method)(b"\xff", timeout=30)) == "INVALID_ARGUMENT"


def test_reflection_answers_as_long_as_it_is_asked(channel):
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="no.such.Thing"),
        reflection_pb2.ServerReflectionRequest(),
    ]
    listed, file, missing, nothing = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(
        iter(asked), timeout=30
    )
    assert {SERVICE, "grpc.health.v1.Health"} <= {item.name for item in listed.list_services_response.service}
    assert file.file_descriptor_response.file_descriptor_proto
    assert missing.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
    assert nothing.error_response.error_code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    stream = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
    assert code_of(lambda: list(stream(iter([b"\xff"]), timeout=30))) == "INVALID_ARGUMENT"


def test_of_a_call_with_two_messages_the_first_is_taken(served, channel):
    channel.stream_unary(METHOD)(iter([body(first=1), body(first=2)]), timeout=30)
    assert len(served.spans()) == 1


def test_a_sender_that_leaves_before_its_answer_costs_nothing_and_its_spans_are_kept(served, channel):
    entered, release = threading.Event(), threading.Event()

    def stuck(spans):
        entered.set()
        release.wait(20)

    served.log.fail = stuck
    left = channel.unary_unary(METHOD).future(body(first=1), timeout=30)
    assert entered.wait(20)
    left.cancel()
    served.log.fail = lambda spans: None
    release.set()
    assert export(served, body(first=2)) == "OK"
    until = time.monotonic() + 20
    while len(served.spans()) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(served.spans()) == 2
    assert served.receiver._budget.used == 0


def test_a_request_that_is_being_taken_when_the_receiver_stops_is_answered(tmp_path):
    served = serve(tmp_path / "spans")
    entered, release = threading.Event(), threading.Event()

    def stuck(spans):
        entered.set()
        release.wait(20)

    served.log.fail = stuck
    with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel:
        taken = channel.unary_unary(METHOD).future(body(), timeout=30)
        assert entered.wait(20)
        stopping = threading.Thread(target=served.stop)
        stopping.start()
        release.set()
        assert taken.result(30) == b""
        stopping.join(30)
    assert len(served.spans()) == 1


def test_calls_beyond_those_that_may_wait_are_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("collector_receiver.sources.otlp_grpc.MAX_WAITING", 2)
    served = serve(tmp_path / "spans", grpc_max_reads=1, grpc_read_wait=timedelta(seconds=60))
    go, ended = threading.Event(), threading.Semaphore(0)

    def slow(n):
        go.wait(60)
        yield body(first=n)

    try:
        with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel:
            calls = [channel.stream_unary(METHOD).future(slow(n), timeout=60) for n in range(1, 7)]
            for call in calls:
                call.add_done_callback(lambda _: ended.release())
            assert all(ended.acquire(timeout=30) for _ in range(3))
            refused = [call for call in calls if call.done()]
            go.set()
            assert {call.code().name for call in refused} == {"RESOURCE_EXHAUSTED"}
            assert [call.result(30) for call in calls if call not in refused] == [b""] * 3
        assert len(served.spans()) == 3
    finally:
        go.set()
        served.stop()


def test_what_was_refused_is_not_held_until_garbage_is_collected(served, channel):
    """An error that is kept holds the frames that it was raised in, and these the batch."""

    def full(spans):
        raise Overloaded("full", retry_after=1)

    served.log.fail = full
    call = channel.unary_unary(METHOD)
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            assert code_of(lambda: call(b"\xff", timeout=30)) == "INVALID_ARGUMENT"
            assert code_of(lambda: call(body(), timeout=30)) == "RESOURCE_EXHAUSTED"
            assert served.post(b"\xff")[0] == 400
            assert served.post(body())[0] == 503
        held = sum(isinstance(one, Decoded | Pending) for one in gc.get_objects())
    finally:
        gc.enable()
    # Those of the last requests may be in the hands of the threads that took them.
    assert held < 10
