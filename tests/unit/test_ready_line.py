"""The line that says where a process listens."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from nexus.settings.base import at_port
from nexus.wiring.ready import announce


def runtime(tls: str | None = None, **addresses: str):
    return SimpleNamespace(settings=SimpleNamespace(http=SimpleNamespace(tls_cert=tls)), addresses=addresses)


def test_it_says_the_ports_that_the_roles_got(capsys: pytest.CaptureFixture[str]) -> None:
    http, grpc = at_port("127.0.0.1:0", 40_001), at_port("[::1]:0", 40_002)
    announce(runtime(http=http, grpc=grpc, otlp_http="127.0.0.1:4318"))
    said = "ready  pages and API http://127.0.0.1:40001  OTLP/gRPC [::1]:40002  OTLP/HTTP 127.0.0.1:4318\n"
    assert capsys.readouterr().out == said


def test_it_says_nothing_of_what_another_process_listens_on(capsys: pytest.CaptureFixture[str]) -> None:
    announce(runtime())
    announce(runtime("cert.pem", http="0.0.0.0:443"))
    assert capsys.readouterr().out == "ready\nready  pages and API https://0.0.0.0:443\n"
