"""Every way to write one HTTP request, in raw bytes: what is understood, and what is refused with which status and in which encoding."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

import pytest
from google.rpc.status_pb2 import Status

sys.path.insert(0, str(Path(__file__).parent))
from otlp_harness import body, serve

BODY = body()
GZIP = gzip.compress(BODY, mtime=0)
JSON = b'{"resourceSpans":[]}'
PROTOBUF = "Content-Type: application/x-protobuf"
CHUNKED = "Transfer-Encoding: chunked"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = serve(tmp_path_factory.mktemp("forms") / "spans")
    yield server
    server.stop()


def ask(served, data: bytes, *lines: str, start: str = "POST /v1/traces HTTP/1.1", length: bool = True) -> int:
    """The status of the answer. That of a refusal in protobuf is a Status with a reason."""
    head = [start, "Host: x", "Connection: close", *lines, *([f"Content-Length: {len(data)}"] if length else [])]
    answer, _, content = served.raw("\r\n".join((*head, "", "")).encode() + data).partition(b"\r\n\r\n")
    status = int(answer.split()[1])
    if status >= 400 and b"Content-Type: application/x-protobuf" in answer and not start.startswith("HEAD"):
        assert Status.FromString(content).message
    return status


@pytest.mark.parametrize(
    ("kind", "data", "status"),
    [
        ("Application/X-Protobuf", BODY, 200),
        ("application/x-protobuf; charset=utf-8", BODY, 200),
        ("application/x-protobuf;", BODY, 200),
        ('application/json; charset="UTF-8"', JSON, 200),
        ("APPLICATION/JSON", JSON, 200),
        ("application/json\r\nContent-Type: application/x-protobuf", JSON, 415),
        ("application/protobuf", BODY, 415),
        ("application/jsonx", JSON, 415),
        ("text/plain", JSON, 415),
        ("", BODY, 415),
        ("application/x-protobuf", b"", 200),
        ("application/json", b"", 400),
        ("application/json", b"\xef\xbb\xbf" + JSON, 400),
        ("application/json", JSON.decode().encode("utf-16"), 400),
    ],
)
def test_content_types(served, kind, data, status):
    assert ask(served, data, f"Content-Type: {kind}") == status


@pytest.mark.parametrize(
    ("coding", "data", "status"),
    [
        ("GZIP", GZIP, 200),
        ("identity", BODY, 200),
        ("", BODY, 200),
        ("gzip", GZIP + bytes(3), 200),
        ("gzip", GZIP + GZIP, 200),
        ("gzip", gzip.compress(b"", mtime=0), 200),
        ("gzip", GZIP + b"junk", 400),
        ("gzip", BODY, 400),
        ("x-gzip", GZIP, 415),
        ("gzip, gzip", gzip.compress(GZIP, mtime=0), 415),
        ("gzip\r\nContent-Encoding: gzip", gzip.compress(GZIP, mtime=0), 415),
        ("identity, gzip", GZIP, 415),
        ("deflate", zlib.compress(BODY), 415),
        ("br", BODY, 415),
    ],
)
def test_content_codings(served, coding, data, status):
    assert ask(served, data, PROTOBUF, f"Content-Encoding: {coding}") == status


def chunks(data: bytes, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    return b"%x%s\r\n%s\r\n0\r\n%s\r\n" % (len(data), extension, data, trailer)


@pytest.mark.parametrize(
    ("lines", "data", "status"),
    [
        ([CHUNKED], chunks(BODY), 200),
        (["Transfer-Encoding: Chunked"], chunks(BODY), 200),
        ([CHUNKED], chunks(BODY, b";a=b", b"X: y\r\n"), 200),
        ([CHUNKED], b"zz\r\n", 400),
        ([CHUNKED, f"Content-Length: {len(BODY)}"], chunks(BODY), 400),
        (["Content-Length: -1"], BODY, 400),
        ([f"Content-Length: {len(BODY)}", "Content-Length: 5"], BODY, 400),
        (["Transfer-Encoding: gzip, chunked"], chunks(GZIP), 501),
        (["Transfer-Encoding: gzip, chunked"], chunks(BODY), 501),
        ([], b"", 200),
    ],
)
def test_lengths_and_transfer_codings(served, lines, data, status):
    assert ask(served, data, PROTOBUF, *lines, length=False) == status


@pytest.mark.parametrize(
    ("start", "status"),
    [
        *((f"{method} /v1/traces HTTP/1.1", 405) for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")),
        *((f"{method} /v1/traces HTTP/1.1", 400) for method in ("BREW", "post")),
        *((f"POST {path} HTTP/1.1", 200) for path in ("/v1/traces?x=1", "http://elsewhere/v1/traces")),
        *(
            (f"POST {path} HTTP/1.1", 404)
            for path in (
                "/v1/traces/",
                "//v1/traces",
                "/V1/traces",
                "/v1/metrics",
                "/v1/logs",
                "/",
                "*",
                "/v1/%74races",
            )
        ),
        ("POST /v1/traces HTTP/1.0", 200),
        ("POST /v1/traces HTTP/9.9", 400),
        ("POST  HTTP/1.1", 400),
    ],
)
def test_methods_and_paths(served, start, status):
    assert ask(served, BODY, PROTOBUF, start=start) == status
