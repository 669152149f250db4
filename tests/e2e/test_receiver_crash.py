"""The receiving process dies at random points under load, and nothing that it acknowledged is lost."""

from __future__ import annotations

import json
import pickle
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from ports import free_port

from collector_receiver.log.reader import LocalSpanLogReader
from nexus.settings import load_settings
from nexus.wiring.provide.span_log_writer import FOLDER
from nexus.wiring.receive_worker import COMMAND, Task

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Now:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Receiver:
    """A receiving process that can be killed and started again on the same ports and log."""

    def __init__(self, data: Path, **settings) -> None:
        self.data = data
        self.settings = load_settings({"data": data, **settings})
        self.grpc, self.http = free_port(), free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdin.write(pickle.dumps(Task(self.settings, "", f"127.0.0.1:{self.grpc}", f"127.0.0.1:{self.http}")))
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"ready": True}
        threading.Thread(target=process.stdout.read, daemon=True).start()
        self.process = process

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(120)

    def spans(self) -> list[dict]:
        reader, at, rows = LocalSpanLogReader(self.data / FOLDER, Now()), {}, []
        while True:
            frame, after = reader.read(at, 10_000)
            rows += frame.to_dicts()
            if after == at:
                assert reader.corrupt_bytes == 0
                return rows
            at = after


@pytest.fixture
def receiver(tmp_path) -> Iterator[Receiver]:
    receiver = Receiver(tmp_path, log={"segment_bytes": 256 * 1024})
    receiver.start()
    yield receiver
    if receiver.process.poll() is None:
        receiver.kill()


def batch(first: int, count: int) -> bytes:
    message = ExportTraceServiceRequest()
    scope = message.resource_spans.add().scope_spans.add()
    for n in range(first, first + count):
        scope.spans.add(
            trace_id=n.to_bytes(16, "big"),
            span_id=n.to_bytes(8, "big"),
            name=f"op {n}",
            start_time_unix_nano=1,
            end_time_unix_nano=2,
        )
    return message.SerializeToString()


def test_killed_under_load_it_keeps_everything_it_acknowledged(receiver):
    acknowledged: list[int] = []
    numbers = iter(range(1, 10**9, 50))
    lock, over = threading.Lock(), threading.Event()

    def send() -> None:
        # A connection that met a dead process waits before it tries again; not so long here.
        options = [("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 200)]
        with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc}", options=options) as channel:
            call = channel.unary_unary(METHOD)
            while not over.is_set():
                with lock:
                    first = next(numbers)
                try:
                    call(batch(first, 50), timeout=5)
                except grpc.RpcError as error:
                    assert error.code().name in {"UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED"}
                    time.sleep(0.05)
                else:
                    acknowledged.append(first)

    senders = [threading.Thread(target=send) for _ in range(4)]
    for sender in senders:
        sender.start()
    chance = random.Random(3)
    for _ in range(2):
        before = len(acknowledged)
        while len(acknowledged) < before + 20:
            time.sleep(0.01)
        time.sleep(chance.random() * 0.2)
        receiver.kill()
        receiver.start()
    before = len(acknowledged)
    while len(acknowledged) < before + 20:
        time.sleep(0.01)
    over.set()
    for sender in senders:
        sender.join()
    assert receiver.stop() == 0
    stored = {int.from_bytes(row["trace_id"], "big") for row in receiver.spans()}
    wanted = {first + n for first in acknowledged for n in range(50)}
    assert wanted <= stored


def test_it_ends_when_its_parent_is_gone(receiver):
    receiver.process.stdin.close()
    assert receiver.process.wait(120) == 0


def test_a_full_file_system_is_an_outage_and_the_receiver_goes_on(tmp_path):
    """The limit on the size of files stands for a full disk: writes fail in the kernel, in the middle of an entry."""
    receiver = Receiver(tmp_path)
    receiver.start()
    try:
        subprocess.run(["prlimit", f"--pid={receiver.process.pid}", "--fsize=20000:"], check=True)
        with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc}") as channel:
            call = channel.unary_unary(METHOD)
            taken, first = 0, 1
            with pytest.raises(grpc.RpcError) as refused:
                for first in range(1, 20_000, 50):
                    call(batch(first, 50), timeout=120)
                    taken += 50
            assert refused.value.code().name == "UNAVAILABLE"
            subprocess.run(["prlimit", f"--pid={receiver.process.pid}", "--fsize=unlimited:"], check=True)
            call(batch(first, 50), timeout=120)
        assert receiver.stop() == 0
        assert sorted(int.from_bytes(row["trace_id"], "big") for row in receiver.spans()) == list(range(1, taken + 51))
    finally:
        if receiver.process.poll() is None:
            receiver.kill()
