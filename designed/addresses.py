"""Addresses in settings: URLs, DSNs, host:port, bare hosts. Pure, linear in the value's length."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from designed.kinds import vocabulary

_URL: Final = re.compile(r"\b([a-zA-Z][a-zA-Z0-9+.-]*)://(?:[^\s@/,]*@)?([^\s/?#;\"']*)")
_JDBC: Final = re.compile(
    r"^(?:jdbc:|r2dbc:)(?:tc:)?([a-z0-9]+)(?::[a-z]+)*:(?://|@/{0,2})(?:[^@/]*@)?([^/?;]+)", re.IGNORECASE
)
_ADO: Final = re.compile(
    r"(?:^|;)\s*(?:host|server|data source|addr|address|hostname)\s*=\s*(?:tcp:)?([\w.-]+)(?:[,:](\d+))?", re.IGNORECASE
)
_LIBPQ: Final = re.compile(r"(?:^|\s)host=([\w.-]+)(?:.*?\bport=(\d+))?", re.IGNORECASE)
_GO_DSN: Final = re.compile(r"@tcp\(([\w.-]+)(?::(\d+))?\)")
_HOST_PORT: Final = re.compile(r"^(?:[\w.-]+@)?([A-Za-z_][\w.-]*|\d+(?:\.\d+){3}):(\d{2,5})(?:/\S*)?$")
_BARE: Final = re.compile(r"^[a-zA-Z][\w-]*(?:\.[\w-]+)*$")
_REFERENCE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\}|\(([A-Za-z_]\w*)\)|([A-Za-z_]\w*))")
_LOCAL: Final = vocabulary(
    "localhost host.docker.internal host.minikube.internal gateway.docker.internal 0.0.0.0 127.0.0.1 ::1 none null undefined true false"
)
# Last words of variables that hold an address. Without one, a bare word is a value and no host.
_ADDRESS_WORDS: Final = vocabulary(
    "host hosts hostname addr address addresses url urls uri uris endpoint endpoints server servers broker brokers bootstrap service svc dsn upstream backend"
    " target connection peer node nodes link"
)
_PORT_WORDS: Final = vocabulary("port ports")
_STEM_END: Final = (
    _ADDRESS_WORDS | _PORT_WORDS | vocabulary("base api http grpc https tcp public internal connection string")
)
_SUFFIX: Final = re.compile(r"\.(?:svc(?:\.cluster\.local)?|cluster\.local|local)\.?$")
_INSIDE: Final = re.compile(
    r"\.(?:svc|local|localdomain|internal|lan|corp|intranet|consul|docker|test|localhost)(?:\.|$)"
)
_REGISTERED: Final = re.compile(
    r"\.(?:com|net|org|io|edu|gov|info|biz|ai|co|me|tv|kr|jp|cn|uk|de|fr|us|eu|in|au|ca|ch|nl)$"
)
_ADDRESS_ALONE: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+|[A-Za-z_][\w.-]*:\d{2,5}")
_OPTION: Final = re.compile(
    r"-{1,2}(?:h|[\w.-]*(?:host|url|uri|addr|address|endpoint|server|target|upstream|backend|brokers?))"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A host that a value names. `port` is empty where the value has none; `scheme` in lower case. `certain`: more than a bare word."""

    host: str
    port: str = ""
    scheme: str = ""
    certain: bool = True


def resolve(value: str, variables: Mapping[str, str], depth: int = 0) -> str:
    """Replace `${X}`, `${X:-default}`, `$(X)` and `$X` by their values; what is unknown stays as it is."""
    if "$" not in value or depth > 8:
        return value

    def one(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(4) or match.group(5)
        if variables.get(name):
            return resolve(variables[name], variables, depth + 1)
        operator, default = match.group(2) or "", match.group(3) or ""
        return resolve(default, variables, depth + 1) if operator.endswith("-") else match.group(0)

    return _REFERENCE.sub(one, value)


def variable_words(name: str) -> list[str]:
    """Lower-case words of a variable or setting: KAFKA_ADDR, kafkaAddr, spring.kafka.bootstrap-servers."""
    return [w.lower() for w in re.findall(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|\d+", name.replace("_", " "))] or [
        name.lower()
    ]


def stem(name: str) -> str:
    """What a variable is about: FRONTEND_PROXY_ADDR -> "frontend proxy"."""
    parts = list(variable_words(name))
    while parts and parts[-1] in _STEM_END:
        parts.pop()
    return " ".join(parts)


def holds_address(variable: str) -> bool:
    """Whether a variable's name says that its value is an address."""
    parts = variable_words(variable)
    return bool(parts) and (
        parts[-1] in _ADDRESS_WORDS
        or (len(parts) > 1 and parts[-2] in _ADDRESS_WORDS and parts[-1] in ("list", "name", "string"))
    )


def addresses(value: str, variable: str = "") -> tuple[Address, ...]:
    """The hosts in one value; nothing for local addresses, IP addresses, and values that are no addresses."""
    value = value.strip().strip("\"'")
    if not value or len(value) > 4096 or value.startswith(("/", "./")):
        return ()
    found = [item for item in _parse(value, variable) if _is_remote(item.host)]
    return tuple(dict.fromkeys(found))


def _parse(value: str, variable: str) -> list[Address]:
    jdbc = _JDBC.match(value)
    if jdbc:
        return [_split(part, jdbc.group(1).lower()) for part in jdbc.group(2).split(",")]
    urls = [_split(part, m.group(1).lower()) for m in _URL.finditer(value) for part in m.group(2).split(",") if part]
    if urls:
        return [item for item in urls if item.scheme not in ("file", "classpath", "unix", "s3", "gs", "data")]
    go = _GO_DSN.search(value)
    if go:
        return [Address(go.group(1), go.group(2) or "", "mysql")]
    if "=" in value and (ado := _ADO.search(value) or _LIBPQ.search(value)) is not None:
        return [Address(ado.group(1), ado.group(2) or "", "sql")]
    parts = [part.strip() for part in value.split(",")]
    matches = [_HOST_PORT.match(part) for part in parts]
    if all(matches):
        return [Address(m.group(1), m.group(2)) for m in matches if m]
    if all(_BARE.match(part) for part in parts) and holds_address(variable):
        return [Address(part, "", "", "." in part) for part in parts]
    return []


def _split(authority: str, scheme: str) -> Address:
    host, _, port = authority.rpartition("@")[2].partition(":")
    return Address(host, port if port.isdigit() else "", scheme)


def _is_remote(host: str) -> bool:
    if not host or host.lower() in _LOCAL or "$" in host or "*" in host or "%" in host:
        return False
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return bool(re.fullmatch(r"[\w.-]*[A-Za-z][\w.-]*", host))
    return False


def arguments(command: str) -> list[str]:
    """Words of a command line that may be addresses: with a port or a scheme, or behind an option that takes one.

    Scripts (several lines) are no configuration.
    """
    if "\n" in command.strip() or len(command) > 4096:
        return []
    words = [word.strip("\"'") for word in command.split()]
    found = [word for word in words if _ADDRESS_ALONE.fullmatch(word)]
    found += [word for option, word in pairwise(words) if _OPTION.fullmatch(option) and not word.startswith("-")]
    for word in words:
        option, equals, value = word.partition("=")
        if equals and option.startswith("-") and (_OPTION.fullmatch(option) or _ADDRESS_ALONE.fullmatch(value)):
            found.append(value)
    return list(dict.fromkeys(found))


def short_host(host: str) -> tuple[str, ...]:
    """Names a cluster host may be known by, longest first: "cart.shop.svc.cluster.local" -> cart.shop, cart."""
    base = _SUFFIX.sub("", host.lower().rstrip("."))
    parts = base.split(".")
    return tuple(dict.fromkeys([host.lower(), base, ".".join(parts[:2]), parts[0]]))


def on_internet(host: str) -> bool:
    """Whether a host stands under a registered domain: its first label ("api.vendor.com") is nobody's service name here."""
    return "." in host and _INSIDE.search(host.lower()) is None and _REGISTERED.search(host.lower()) is not None


def is_public(host: str) -> bool:
    """Whether a host is a public DNS name: dots, and no cluster suffix."""
    return "." in host and not _SUFFIX.search(host.lower()) and bool(re.search(r"\.[a-z]{2,}$", host.lower()))
