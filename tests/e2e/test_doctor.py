"""`nexus doctor` beside a running service that was sent what misconfigured senders send."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from nexus_up import NEXUS, Up
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
BASE_NS = 1_768_478_400_000_000_000
INTERNAL, SERVER, CLIENT = 1, 2, 3


def doctor(up: Up, **environment: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")}
    own = {"NEXUS_HTTP__ADDRESS": up.http, "NEXUS_OTLP__GRPC": up.grpc, "NEXUS_OTLP__HTTP": up.otlp_http}
    done = subprocess.run(
        [str(NEXUS), "doctor", "--json", "--data", str(up.data)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=clean | own | environment,
    )
    assert done.returncode in {0, 1, 2}, done.stderr
    found: dict[str, list[dict[str, Any]]] = {}
    for item in json.loads(done.stdout)["findings"]:
        found.setdefault(item["area"], []).append(item)
    return done.returncode, found


def send(up: Up, *spans: tuple[str | None, int, str, str]) -> None:
    """(service, kind, span, parent) of one trace each by the first word of the span."""
    request = ExportTraceServiceRequest()
    for service, kind, span, parent in spans:
        block = request.resource_spans.add()
        if service:
            attribute = block.resource.attributes.add()
            attribute.key, attribute.value.string_value = "service.name", service
        trace = hashlib.sha256(span.split()[0].encode()).digest()[:16]
        block.scope_spans.add().spans.add(
            trace_id=trace,
            span_id=hashlib.sha256(span.encode()).digest()[:8],
            parent_span_id=hashlib.sha256(parent.encode()).digest()[:8] if parent else b"",
            kind=kind,
            name="s",
            start_time_unix_nano=BASE_NS,
            end_time_unix_nano=BASE_NS + 1_000_000,
        )
    with grpc.insecure_channel(up.grpc) as channel:
        channel.unary_unary(EXPORT)(request.SerializeToString(), timeout=120)


def certificate(folder: Path, days: int) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nexus")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    made = (
        made.not_valid_before(now - timedelta(days=90))
        .not_valid_after(now + timedelta(days=days))
        .sign(key, hashes.SHA256())
    )
    pem, private = folder / f"cert{days}.pem", folder / f"key{days}.pem"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return pem, private


def test_beside_a_service(up: Up, tmp_path: Path) -> None:
    send(up, ("shop", SERVER, "a 1", ""), ("shop", CLIENT, "a 2", "a 1"), ("stock", SERVER, "a 3", "a 2"))
    up.post("/otel/aggregate", {"settle": True})
    code, found = doctor(up)
    assert code == 0, found
    for area in (
        "configuration",
        "port NEXUS_HTTP__ADDRESS",
        "port NEXUS_OTLP__GRPC",
        "port NEXUS_OTLP__HTTP",
        "database",
        "migrations",
        "clock",
    ):
        assert [item["state"] for item in found[area]] == ["ok"], found[area]

    send(
        up,
        (None, SERVER, "b 1", ""),
        ("inside", INTERNAL, "c 1", ""),
        ("inside", INTERNAL, "c 2", "c 1"),
        ("orphan", SERVER, "d 1", "d 0"),
    )
    up.post("/otel/aggregate", {"settle": True})
    code, found = doctor(up)
    assert code == 1
    assert {area for area, items in found.items() for item in items if item["state"] == "problem"} == {
        "sender (unnamed)",
        "sender inside",
        "sender orphan",
    }

    _, other = doctor(up, NEXUS_OTLP__GRPC=up.http)
    assert other["port NEXUS_OTLP__GRPC"][0]["state"] == "problem"
    pem, key = certificate(tmp_path, 5)
    gone, gone_key = certificate(tmp_path, -5)
    _, tls = doctor(
        up,
        NEXUS_OTLP__TLS_CERT=str(pem),
        NEXUS_OTLP__TLS_KEY=str(key),
        NEXUS_OTLP__TLS_CLIENT_CA=str(gone),
        NEXUS_SOURCE_TEMPO__TLS_CERT=str(gone),
        NEXUS_SOURCE_TEMPO__TLS_KEY=str(key),
    )
    assert tls["TLS NEXUS_OTLP__TLS_CERT"][0]["state"] == "notice"
    assert "expired" in tls["TLS NEXUS_OTLP__TLS_CLIENT_CA"][0]["what"]
    assert "do not belong together" in tls["TLS NEXUS_SOURCE_TEMPO__TLS_CERT"][0]["what"]
    assert gone_key.exists()
    # A service elsewhere whose token is wrong: what it saw could not be looked at.
    code, refused = doctor(up, NEXUS_API_URL=up.url, NEXUS_MCP_TOKEN="wrong")
    assert code == 2
    assert refused["service"][0]["state"] == "unchecked"
