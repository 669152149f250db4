"""Environment values, settings and arguments that hold another service's address, made claims. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from designed.addresses import Address, addresses, is_public, resolve, stem, variable_words
from designed.kinds import Role, vocabulary, words
from designed.names_known import Known, squeeze
from designed.reader import Fact, Place, RawClaim, RawName, Reading
from nexus.model.claim import Via

_PORT_PROTOCOL: Final = {
    "5432": "postgresql",
    "3306": "mysql",
    "27017": "mongodb",
    "6379": "redis",
    "11211": "memcached",
    "9092": "kafka",
    "29092": "kafka",
    "5672": "amqp",
    "1883": "mqtt",
    "4222": "nats",
    "9200": "elasticsearch",
    "1433": "mssql",
    "1521": "oracle",
    "9042": "cassandra",
    "25": "smtp",
    "587": "smtp",
}
_SCHEME_PROTOCOL: Final = {
    "http": "http",
    "https": "http",
    "ws": "http",
    "wss": "http",
    "postgres": "postgresql",
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mongodb": "mongodb",
    "redis": "redis",
    "rediss": "redis",
    "amqp": "amqp",
    "amqps": "amqp",
    "kafka": "kafka",
    "plaintext": "kafka",
    "nats": "nats",
    "mqtt": "mqtt",
    "grpc": "grpc",
    "dns": "grpc",
    "mariadb": "mysql",
    "sqlserver": "mssql",
    "smtp": "smtp",
}
# Variables that tell a service its own address, or an address for others to use.
_OWN: Final = vocabulary(
    "bind listen listener listeners advertised advertise cors origin origins allowed callback redirect public self own voters proxy_pass"
)
_TELEMETRY_WORDS: Final = vocabulary(
    "otel otlp exporter telemetry tracing traceloop zipkin jaeger opentracing apm newrelic datadog dd sentry pyroscope profiler"
)
_LOCAL_URL: Final = re.compile(r"https?://(?:localhost|127\.0\.0\.1|host\.docker\.internal)(?=[:/]|$)")
_UI_PORTS: Final = frozenset({"16686", "3000", "9090", "5601", "8089"})
_TEST_WORDS: Final = vocabulary("test tests e2e cypress playwright")
_GENERIC_STEMS: Final = vocabulary(
    "app site web self external base callback redirect docs image images cdn static assets frontend origin host domain server proxy no_proxy npm pip registry repo git"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A claim under the path of the document that it quotes. `access`: reaches a broker, its direction is not told by the address."""

    path: str
    claim: RawClaim
    access: bool = False


def claims(readings: Mapping[str, Reading], known: Known) -> Iterator[Found]:
    """Every address of every workload."""
    dotenv = _dotenv(readings)
    config: dict[str, list[tuple[str, Fact]]] = {}
    users: dict[str, set[str]] = {}
    mentions: dict[str, set[str]] = {}
    mounted: dict[str, set[str]] = {}
    for path, reading in sorted(readings.items()):
        for fact in reading.facts:
            if fact.kind == "config":
                config.setdefault(fact.subject, []).append((path, fact))
            elif fact.kind == "env_ref":
                users.setdefault(fact.key, set()).add(known.canonical(fact.subject))
            elif fact.kind == "env_file":
                users.setdefault(_beside(path, fact.key), set()).add(known.canonical(fact.subject))
            elif fact.kind == "mounts":
                mounted.setdefault(_beside(path, fact.key), set()).add(known.canonical(fact.subject))
            elif fact.kind == "mention":
                # A README is about the folder it lies in, and about what its title names.
                for about in (
                    posixpath.basename(posixpath.dirname(path)),
                    re.sub(r"(?i)\s*(?:micro)?service$", "", fact.subject),
                ):
                    mentions.setdefault(squeeze(about), set()).add(fact.key)
    for path, reading in sorted(readings.items()):
        # Compose takes values from `.env` only; Kubernetes' $(X) is a variable of the same document.
        variables = {**{f.key: f.value for f in reading.facts if f.kind == "env" and f.value}, **_around(dotenv, path)}
        ports = _ports(reading, variables)
        for fact in reading.facts:
            if fact.kind == "env":
                value = resolve(fact.value or variables.get(fact.key, ""), variables)
                yield from _value(path, known, fact, value, fact.place, ports.get(fact.subject, {}))
            elif fact.kind == "argument":
                yield from _argument(path, known, fact, resolve(fact.value, variables))
            elif fact.kind == "setting":
                yield from _setting(path, known, fact, mounted.get(path, set()))
            elif fact.kind == "env_key":
                name, _, key = fact.value.partition("/")
                for _, entry in config.get(name, []):
                    if entry.key == key:
                        yield from _value(path, known, fact, entry.value, fact.place, {})
            elif fact.kind == "env_file":
                file = _beside(path, fact.key)
                own = readings.get(file)
                # A file that several services share hands all of them every address: no statement about any of them.
                if own is not None and len(users.get(file, ())) == 1:
                    values = {f.key: f.value for f in own.facts if f.kind == "dotenv"}
                    for entry in own.facts:
                        if entry.kind == "dotenv":
                            moved = Fact("env", fact.subject, entry.key, entry.value, entry.place, fact.attributes)
                            yield from _value(
                                file, known, moved, resolve(entry.value, values), entry.place, {}, "env_file"
                            )
            elif fact.kind == "env_ref":
                listed = mentions.get(squeeze(known.canonical(fact.subject)), set())
                entries = config.get(fact.key, [])
                several = len(users.get(fact.key, ())) > 1
                if several and "mounted" in fact.attributes:
                    # As with a file of variables: what all of them get is a statement about none.
                    continue
                shared = several and bool(listed & {entry.key for _, entry in entries})
                for where, entry in entries:
                    if not shared or entry.key in listed:
                        moved = Fact(
                            "env", fact.subject, f"{fact.value}{entry.key}", entry.value, entry.place, fact.attributes
                        )
                        yield from _value(where, known, moved, entry.value, entry.place, {}, "configmap")


def _beside(path: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


def _dotenv(readings: Mapping[str, Reading]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    # `.env` before its overrides, as compose takes them.
    for path, reading in sorted(readings.items(), key=lambda item: (len(item[0]), item[0])):
        for fact in reading.facts:
            if fact.kind == "dotenv":
                found.setdefault(posixpath.dirname(path), {}).setdefault(fact.key, fact.value)
    return found


def _around(dotenv: Mapping[str, dict[str, str]], path: str) -> dict[str, str]:
    """Values for a compose file: the nearest folder's `.env`."""
    for folder in PurePosixPath(path).parents:
        name = "" if str(folder) == "." else str(folder)
        if name in dotenv:
            return dotenv[name]
    return {}


def _ports(reading: Reading, variables: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Port variables by workload: {"jaeger ui port": "16686"}."""
    found: dict[str, dict[str, str]] = {}
    for fact in reading.facts:
        if fact.kind == "env" and variable_words(fact.key)[-1:] == ["port"]:
            found.setdefault(fact.subject, {})[stem(fact.key)] = resolve(
                fact.value or variables.get(fact.key, ""), variables
            )
    return found


def _value(
    path: str, known: Known, fact: Fact, value: str, place: Place, ports: Mapping[str, str], rule: str = "env"
) -> Iterator[Found]:
    parts = set(variable_words(fact.key))
    if parts & _OWN or (fact.key.lower().startswith(("otel_", "k6_otel")) or {"otlp", "traceloop"} & parts):
        return
    if _LOCAL_URL.match(value) and (meant := _by_key(known, fact)) is not None:
        yield from _claim(path, known, fact, meant, Address("localhost", "", "http"), place, "key", parts)
        return
    for address in addresses(value, fact.key):
        target = known.host(address.host, stem(fact.key)) or _unknown(address, fact.key)
        if target is None:
            continue
        port = address.port
        if not port:
            about = stem(fact.key)
            port = next((number for name, number in sorted(ports.items()) if name == about), "") or next(
                (number for name, number in sorted(ports.items()) if about and name.startswith(about + " ")), ""
            )
        yield from _claim(
            path, known, fact, target, Address(address.host, port, address.scheme, address.certain), place, rule, parts
        )


def _by_key(known: Known, fact: Fact) -> str | None:
    """`payment-service.url: http://localhost:8082` on a developer's machine: the key says which service is meant."""
    meant = {known.canonical(part) for part in fact.key.split(".") if known.canonical(part) in known.names}
    return meant.pop() if len(meant) == 1 else None


def _unknown(address: Address, variable: str) -> str | None:
    """A name for a host that no document declares."""
    about = next((found for part in reversed(variable.split(".")) if (found := stem(part))), "")
    if is_public(address.host):
        # Outside: named by what the variable calls it; a generic variable ("PUBLIC_URL") is one's own address.
        if (
            not about
            or set(about.split()) & _GENERIC_STEMS
            or variable.startswith("spring.")
            or not address.scheme.startswith(("http", "ws", "grpc", "amqp", "smtp"))
        ):
            return None
        return about.replace(" ", "-")
    if "." in address.host and not address.certain:
        return None
    if address.certain or (about and squeeze(about) == squeeze(address.host)):
        return address.host.split(".")[0]
    return None


def _claim(
    path: str, known: Known, fact: Fact, target: str, address: Address, place: Place, rule: str, parts: set[str]
) -> Iterator[Found]:
    source = known.canonical(fact.subject)
    if target == source or squeeze(target) == squeeze(source) or not source:
        return
    weak = _weak(known, source, target, address, parts)
    external = is_public(address.host) and known.host(address.host, stem(fact.key)) is None
    role = Role.EXTERNAL if external else known.role(target)
    protocol = _SCHEME_PROTOCOL.get(address.scheme, "") or _PORT_PROTOCOL.get(address.port, "")
    raw_target = RawName(target, "external", (address.host,)) if external else known.raw(target, address.host)
    form = fact.attributes.get("format", "env")
    attributes = {"variable": fact.key} | ({"port": address.port} if address.port else {}) | _hints(fact)
    claim = RawClaim(
        "CALLS",
        known.raw(source),
        raw_target,
        place,
        f"{form}.{rule}",
        0.75 if external else (0.93 if address.certain else 0.88),
        Via(protocol),
        weak=weak,
        attributes=attributes,
    )
    yield Found(path, claim, access=role in (Role.BROKER, Role.TOPIC))


def _hints(fact: Fact) -> dict[str, str]:
    comment = fact.attributes.get("comment", "")
    return {"comment": comment} if comment else {}


def _weak(known: Known, source: str, target: str, address: Address, parts: set[str]) -> str:
    if known.role(source) is Role.TELEMETRY or known.role(target) is Role.TELEMETRY:
        if known.role(source) is Role.TELEMETRY:
            return "telemetry"
        shown = (
            {"ui", "query", "dashboard", "grafana"} & parts or "grafana" in words(target) or address.port in _UI_PORTS
        )
        if not shown:
            return "telemetry"
    elif parts & _TELEMETRY_WORDS and not known.host(address.host):
        return "telemetry"
    if set(words(source)) & _TEST_WORDS and "load" not in words(source):
        return "a test"
    return ""


def _argument(path: str, known: Known, fact: Fact, value: str) -> Iterator[Found]:
    for address in addresses(value, "host"):
        target = known.host(address.host)
        if target is not None:
            yield from _claim(path, known, fact, target, address, fact.place, "argument", {"host"})


def _setting(path: str, known: Known, fact: Fact, users: set[str]) -> Iterator[Found]:
    """`GeoMongoAddress: mongodb-geo:27017`: the words before the technology name the service whose setting it is.

    A setting that names no service ("consulAddress") is every service's that gets the file.
    """
    for address in addresses(fact.value, fact.key):
        target = known.host(address.host)
        if target is None:
            continue
        owner = _owner(known, fact.key, target)
        about = squeeze(stem(fact.key.rsplit(".", maxsplit=1)[-1]))
        everyone = sorted(users) if about and (about in squeeze(target) or squeeze(target) in about) else []
        for source in [owner] if owner is not None else everyone:
            moved = Fact("env", source, fact.key, fact.value, fact.place, fact.attributes)
            yield from _claim(path, known, moved, target, address, fact.place, "setting", set(variable_words(fact.key)))


def _owner(known: Known, key: str, target: str) -> str | None:
    parts = [word for part in key.split(".") for word in variable_words(part)]
    if not parts:
        return None
    first = parts[0]
    candidates = []
    for name in sorted(known.names):
        if name == target or known.role(name) in (Role.STORE, Role.BROKER, Role.TELEMETRY):
            continue
        squeezed = squeeze(name)
        shared = len(posixpath.commonprefix([squeezed, first]))
        if squeezed == first or (shared >= 4 and shared >= 0.75 * min(len(first), len(squeezed))):
            candidates.append((squeezed != first, -shared, name))
    return min(candidates)[2] if candidates else None


def stated_twice(claim: RawClaim) -> str:
    """A key for claims that say the same at the same place."""
    return re.sub(
        r"\s+", " ", f"{claim.relation}|{claim.source.name}|{claim.target.name}|{claim.place.lines}|{claim.rule}"
    )
