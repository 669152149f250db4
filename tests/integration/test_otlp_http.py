"""HTTP's corners: what is no HTTP, what is cut in pieces, sent ahead or offered in passing, and how connections end."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

import pytest
from google.rpc.status_pb2 import Status
from waiting import until

sys.path.insert(0, str(Path(__file__).parent))
from otlp_harness import HEAD, body, export, serve


@pytest.fixture
def served(tmp_path):
    server = serve(tmp_path / "spans")
    yield server
    server.stop()


def test_endless_headers_are_refused(served):
    assert b" 413 " in served.raw(b"POST /v1/traces HTTP/1.1\r\nX-A: " + b"a" * 40_000)
    assert b" 413 " in served.raw(
        b"POST /v1/traces HTTP/1.1\r\n" + b"".join(b"X-%d: a\r\n" % n for n in range(500)) + b"\r\n"
    )
    assert b" 413 " in served.raw(b"POST /" + b"a" * 40_000)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x00\xa5\x01\x00\x00",
        b"GET\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        HEAD.encode() + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD.encode() + b"Content-Length: -5\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_with_a_status(served, data):
    answer = served.raw(data)
    assert answer.startswith(b"HTTP/1.1 4")
    assert b"Connection: close" in answer
    assert served.post(body())[0] == 200


@pytest.mark.parametrize(
    ("data", "statuses"),
    [
        # Nothing that follows costs a whole request its answer.
        (HEAD + "\r\ntrailing", [200, 400]),
        (HEAD + "Content-Length: 0\r\n\r\n" + "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", [200, 404]),
        (
            HEAD + "Content-Length: 0\r\n\r\n" + HEAD.replace("x-protobuf", "x") + "Content-Length: 0\r\n\r\n",
            [200, 415],
        ),
        ("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", [404]),
        (HEAD.replace("POST /", "POST http://nexus:4318/") + "Connection: close\r\nContent-Length: 0\r\n\r\n", [200]),
    ],
)
def test_every_request_is_answered_once_and_in_order(served, data, statuses):
    assert [int(part[:3]) for part in served.raw(data.encode()).split(b"HTTP/1.1 ")[1:]] == statuses


@pytest.mark.parametrize("chunked", [False, True])
def test_an_offer_of_another_protocol_is_passed_over(served, chunked):
    content = body(spans=2)
    head = HEAD + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"
    framed = (
        head.encode() + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(content), content)
        if chunked
        else head.encode() + b"Content-Length: %d\r\n\r\n" % len(content) + content
    )
    # The connection is kept, for the client did not ask to close it.
    answer = served.raw(framed + (HEAD + "Connection: close\r\nContent-Length: 0\r\n\r\n").encode())
    assert answer.count(b"HTTP/1.1 200") == 2
    assert len(served.spans()) == 2


def test_an_answer_to_head_has_no_body(served):
    answer = served.raw((HEAD.replace("POST", "HEAD") + "\r\n").encode())
    assert answer.startswith(b"HTTP/1.1 405")
    assert answer.endswith(b"\r\n\r\n")


def test_what_a_client_sent_is_repeated_only_so_far(served):
    status, _, answer = served.post(b"", path="/" + "a" * 10_000)
    assert (status, len(answer) < 400) == (404, True)


def test_chunked_bodies_and_pipelined_requests_are_answered_in_order(served):
    content = body(spans=2)
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (content[:7], content[7:])) + b"0\r\n\r\n"
    chunked = HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunks
    bad = HEAD.replace("x-protobuf", "json").encode() + b"Content-Length: 1\r\n\r\n{"
    last = HEAD.encode() + b"Connection: close\r\nContent-Length: 0\r\n\r\n"
    answer = served.raw(chunked + bad + last)
    assert [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]] == [b"200", b"400", b"200"]
    assert len(served.spans()) == 2


def test_expect_continue_is_answered_before_the_body_and_refusals_instead_of_it(served):
    content = body()
    with socket.create_connection(("127.0.0.1", served.http_port), timeout=120) as client:
        client.sendall((HEAD + f"Expect: 100-continue\r\nContent-Length: {len(content)}\r\n\r\n").encode())
        assert client.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(content)
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
    refused = served.raw(
        (HEAD.replace("x-protobuf", "xml") + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n").encode()
    )
    assert refused.startswith(b"HTTP/1.1 415")
    assert b"100 Continue" not in refused


def test_a_client_of_http_1_0_is_never_told_to_continue(served):
    content = body()
    head = HEAD.replace("HTTP/1.1", "HTTP/1.0") + f"Expect: 100-continue\r\nContent-Length: {len(content)}\r\n\r\n"
    assert served.raw(head.encode() + content).startswith(b"HTTP/1.1 200")


def test_a_refusal_reaches_a_client_that_is_still_sending(tmp_path):
    served = serve(tmp_path / "spans", max_request_bytes=100_000)
    try:
        for _ in range(5):
            status, _, content = served.post(bytes(8_000_000))
            assert status == 413
            assert "100000" in Status.FromString(content).message
    finally:
        served.stop()


def test_connections_are_kept_alive(served):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", served.http_port, timeout=120)
    before = None
    for n in range(1, 6):
        connection.request("POST", "/v1/traces?x=1", body(first=n), {"Content-Type": "application/x-protobuf"})
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b"")
        local = connection.sock.getsockname()
        assert before in {None, local}
        before = local
    assert len(served.spans()) == 5


def test_a_stop_answers_what_is_being_taken(served):
    entered, release = threading.Event(), threading.Event()

    def slow(spans):
        entered.set()
        release.wait(120)

    served.log.fail = slow
    answers: list[object] = []
    threads = [
        threading.Thread(target=lambda: answers.append(served.post(body(first=1))[0])),
        threading.Thread(target=lambda: answers.append(export(served, body(first=2)))),
    ]
    for thread in threads:
        thread.start()
    assert entered.wait(120)
    until(lambda: served.receiver._budget.used >= 2 * len(body()))
    threading.Timer(0.5, release.set).start()
    served.run(served.receiver.stop())
    for thread in threads:
        thread.join()
    assert sorted(map(str, answers)) == ["200", "OK"]
