"""The doors themselves: health, reflection, TLS, tokens, and clients that mean harm."""

from __future__ import annotations

import json
import ssl
import sys
import time
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from collector_receiver.run import read_tls, ssl_context
from collector_receiver.sources.otlp_grpc import GrpcOptions, channel_arguments
from nexus.errors import ConfigError, StoreUnavailable
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal

sys.path.insert(0, str(Path(__file__).parent))
from otlp_harness import HEAD, METHOD, SERVICE, body, export, serve


@pytest.fixture
def served(tmp_path):
    server = serve(tmp_path / "spans")
    yield server
    server.stop()


# gRPC's own services


def test_health_and_reflection_answer(served):
    with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", SERVICE):
            assert (
                health.Check(health_pb2.HealthCheckRequest(service=name), timeout=120).status
                == health_pb2.HealthCheckResponse.SERVING
            )
        with pytest.raises(grpc.RpcError) as unknown:
            health.Check(health_pb2.HealthCheckRequest(service="other"), timeout=120)
        assert unknown.value.code().name == "NOT_FOUND"
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        [answer] = list(
            reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([asked]), timeout=120)
        )
        assert SERVICE in {item.name for item in answer.list_services_response.service}
        with pytest.raises(grpc.RpcError) as other:
            channel.unary_unary("/opentelemetry.proto.collector.metrics.v1.MetricsService/Export")(b"", timeout=120)
        assert other.value.code().name == "UNIMPLEMENTED"


def test_connections_age_and_pings_are_allowed():
    arguments = dict(channel_arguments(GrpcOptions("x")))
    assert arguments["grpc.max_connection_age_ms"] == 30 * 60 * 1000
    assert arguments["grpc.max_connection_age_grace_ms"] > 0
    assert arguments["grpc.keepalive_permit_without_calls"] == 1
    assert arguments["grpc.so_reuseport"] == 0


def test_a_connection_that_reached_its_age_is_replaced_without_a_failed_call(tmp_path):
    served = serve(tmp_path / "spans", grpc_max_connection_age=timedelta(milliseconds=300))
    try:
        with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel:
            call = channel.unary_unary(METHOD)
            for n in range(1, 16):
                call(body(first=n), timeout=120, wait_for_ready=True)
                time.sleep(0.05)
        assert len(served.spans()) == 15
    finally:
        served.stop()


def test_a_taken_port_is_a_configuration_error_that_names_the_setting(tmp_path, served):
    with pytest.raises(ConfigError, match="NEXUS_OTLP__GRPC"):
        serve(tmp_path / "other", grpc_address=f"127.0.0.1:{served.grpc_port}")


# TLS


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A CA, a server's and a client's certificate, and one of the client's name that the CA did not sign, as files."""
    import subprocess

    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    def request(name: str, subject: str, *arguments: str) -> None:
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key")
        openssl("req", *key, "-subj", f"/CN={subject}", *arguments)

    for name, subject in (("ca", "test CA"), ("stranger", "client")):
        request(name, subject, "-x509", "-out", f"{name}.pem", "-days", "2")
    (folder / "san").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    for name in ("server", "client"):
        request(name, name, "-out", f"{name}.csr")
        openssl(
            "x509",
            "-req",
            "-in",
            f"{name}.csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-out",
            f"{name}.pem",
            "-days",
            "2",
            "-extfile",
            "san",
        )
    return folder


@pytest.mark.parametrize("mutual", [False, True])
def test_tls_and_mtls_on_both_transports(tmp_path, certificates, mutual):
    ca, server, key = certificates / "ca.pem", certificates / "server.pem", certificates / "server.key"
    client_ca = ca if mutual else None
    served = serve(
        tmp_path / "spans", grpc_tls=read_tls(server, key, client_ca), http_tls=ssl_context(server, key, client_ca)
    )
    pair = ((certificates / "client.key").read_bytes(), (certificates / "client.pem").read_bytes())
    try:

        def secure(own=(None, None)):
            return grpc.secure_channel(
                f"localhost:{served.grpc_port}", grpc.ssl_channel_credentials(ca.read_bytes(), *own)
            )

        def post(context) -> int:
            import http.client

            connection = http.client.HTTPSConnection("localhost", served.http_port, context=context, timeout=120)
            connection.request("POST", "/v1/traces", body(first=5), {"Content-Type": "application/x-protobuf"})
            return connection.getresponse().status

        plain, known = ssl.create_default_context(cafile=ca), ssl.create_default_context(cafile=ca)
        known.load_cert_chain(certificates / "client.pem", certificates / "client.key")
        assert export(served, body(first=1), channel=secure(pair)) == "OK"
        assert post(known) == 200
        if mutual:
            assert export(served, body(first=2), channel=secure()) == "UNAVAILABLE"
            stranger = ssl.create_default_context(cafile=ca)
            stranger.load_cert_chain(certificates / "stranger.pem", certificates / "stranger.key")
            unknown = ((certificates / "stranger.key").read_bytes(), (certificates / "stranger.pem").read_bytes())
            assert export(served, body(first=2), channel=secure(unknown)) == "UNAVAILABLE"
            for context in (plain, stranger):
                with pytest.raises((ssl.SSLError, OSError)):
                    post(context)
            assert len(served.spans()) == 2
        else:
            assert export(served, body(first=2), channel=secure()) == "OK"
            assert post(plain) == 200
        assert export(served, body(first=3)) == "UNAVAILABLE"  # without TLS
    finally:
        served.stop()


def test_unusable_tls_files_are_configuration_errors_that_name_every_setting(tmp_path, certificates):
    with pytest.raises(ConfigError, match="TLS_KEY"):
        read_tls(certificates / "server.pem", None, None)
    with pytest.raises(ConfigError) as missing:
        read_tls(tmp_path / "no.pem", tmp_path / "no.key", None)
    assert len(missing.value.problems) == 2
    with pytest.raises(ConfigError, match="TLS_CERT"):
        ssl_context(certificates / "server.pem", certificates / "client.key", None)


# Tokens


def find(token: str) -> Principal | None:
    capabilities = {"sender": Capability.INGEST, "reader": Capability.READ}
    if token == "away":
        raise StoreUnavailable("the database is away")
    return (
        Principal(token, "acme", Classification.INTERNAL, frozenset({capabilities[token]}))
        if token in capabilities
        else None
    )


def test_tokens_on_both_transports_give_the_tenant(tmp_path):
    served = serve(tmp_path / "spans", find=find)
    kind = {"Content-Type": "application/json"}
    try:
        for token, code, status in (
            (None, "UNAUTHENTICATED", 401),
            ("Bearer wrong", "UNAUTHENTICATED", 401),
            ("Basic sender", "UNAUTHENTICATED", 401),
            ("Bearer reader", "PERMISSION_DENIED", 403),
            ("Bearer away", "UNAVAILABLE", 503),
            ("Bearer sender", "OK", 200),
        ):
            headers = {} if token is None else {"Authorization": token}
            assert export(served, body(first=1), [(key.lower(), value) for key, value in headers.items()]) == code, (
                token
            )
            answer = served.post(b"{}", kind | headers)
            assert answer[0] == status, token
            if status == 401:
                assert answer[1]["www-authenticate"] == "Bearer"
                assert json.loads(answer[2])["message"]
        # Several are none, whichever comes first.
        good = ("authorization", "Bearer sender")
        for other in ("Bearer wrong", "Bearer sender"):
            assert export(served, body(), [good, ("authorization", other)]) == "UNAUTHENTICATED"
            lines = (
                HEAD
                + f"Authorization: Bearer sender\r\nAuthorization: {other}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            assert served.raw(lines.encode()).startswith(b"HTTP/1.1 401")
        assert served.spans()["tenant"].to_list() == ["acme"]
    finally:
        served.stop()
