"""Settings in a fence under a service's heading that hold another service's address. Pure.

Variables (`PAYMENT_URL=http://payment:8080`) and settings of Spring (`feign.clients.payment.url`, routes of Spring Cloud Gateway).
Rule: `env_block.address`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from designed.block_lines import BlockLines
from designed.extractors.names import Names
from designed.extractors.statements import CALLS, Context, Statement
from designed.reader import RawName
from designed.readers.spring import address_of, settings_of
from nexus.model.entity import Entity
from nexus.model.service import NodeKind

SETTINGS = frozenset({"", "env", "dotenv", "bash", "sh", "shell", "properties", "ini", "yaml", "yml"})
_SETTING = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[ \t]*=[ \t]*([^\s#]*)", re.MULTILINE)
_SETTING_END = re.compile(
    r"_(?:BASE_URL|API_URL|URL|URI|API_ADDR|ADDRESS|ADDR|HOST|HOSTNAME|ENDPOINT|GRPC_URL|GRPC_ADDR)$"
)
_HOST = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]*@)?([A-Za-z][A-Za-z0-9-]*)(?:\.[a-z0-9.-]+)?(?::\d+)?(?:[/?].*)?"
)
_SPRING = re.compile(r"^(?:spring|feign)(?=[.:])", re.MULTILINE)
_PROPERTIES = re.compile(r"^(?:spring|feign)\.[\w.\[\]-]+\s*=", re.MULTILINE)
# `feign.clients.payment-service.url`: the key says whose address it is.
_CLIENT = re.compile(
    r"(?:openfeign|feign)\.clients?\.(?:config\.)?([A-Za-z][\w-]*)\.(?:url|uri|base-?url)$", re.IGNORECASE
)
_DEFAULTED = re.compile(r"\$\{[\w.-]+:-([^{}]*)\}")
_ROUTE = re.compile(r"(spring\.cloud\.gateway\.(?:server\.web\w+\.)?routes\[\d+\])\.uri$")

# Whose setting it is, with its key; what is at the address; where the setting stands.
_Found = tuple[RawName, str, Entity, int]


def setting_statements(
    text: str, start: int, end: int, names: Names, context: Context
) -> Iterator[tuple[Statement, int, int]]:
    """Settings that hold another service's address, in a fence under a service's heading: (statement, start, end) of each line."""
    for source, key, target, at in (
        *_variables(text, start, end, names, context),
        *_spring(text, start, end, names, context),
    ):
        if target.kind == NodeKind.TOPIC or target.rid == key:
            continue
        line_end = text.find("\n", at, end)
        statement = Statement(
            CALLS, source, key, RawName(target.name, target.kind), target.rid, "env_block.address", at
        )
        yield statement, at, end if line_end < 0 else line_end


def _variables(text: str, start: int, end: int, names: Names, context: Context) -> Iterator[_Found]:
    if context.subject is None:
        return
    for match in _SETTING.finditer(text, start, end):
        variable, value = match[1], match[2].strip("\"'")
        host = _HOST.fullmatch(value) if value else None
        found = None
        if host is not None and (":" in value or "." in value):
            found = names.registry.resolve(host[1]).entity
        if found is None and _SETTING_END.search(variable):
            stem = _SETTING_END.sub("", variable)
            found = names.registry.resolve(stem.replace("_", "-").casefold()).entity if len(stem) > 3 else None
        if found is not None:
            yield context.subject, context.subject_key, found, match.start()


def _spring(text: str, start: int, end: int, names: Names, context: Context) -> Iterator[_Found]:
    body = text[start:end]
    if _SPRING.search(body) is None:
        return
    lines = BlockLines(body)
    settings, _ = settings_of(body, ".properties" if _PROPERTIES.search(body) else ".yml", lines)
    values = {setting.key: setting.value for setting in settings}
    for setting in settings:
        client, route = _CLIENT.search(setting.key), _ROUTE.match(setting.key)
        if client is not None:
            named, owner = client[1], (context.subject, context.subject_key) if context.subject else None
        elif route is not None:
            named, owner = values.get(f"{route[1]}.id", ""), _gateway(names, context)
        else:
            continue
        # "http://localhost:8081" says no more than its key, or the route's id.
        found = _host(address_of(setting), names) or names.registry.resolve(named).entity
        if found is not None and owner is not None:
            yield *owner, found, start + lines.start(setting.place.lines[0])


def _host(address: str, names: Names) -> Entity | None:
    """The service at an address, with the default of a variable for its value."""
    match = _HOST.fullmatch(_DEFAULTED.sub(r"\1", address))
    return names.registry.resolve(match[1]).entity if match is not None else None


def _gateway(names: Names, context: Context) -> tuple[RawName, str] | None:
    """Whose routes they are: the section's gateway, or the only one that there is."""
    if context.subject is not None and "gateway" in context.subject.name.casefold():
        return context.subject, context.subject_key
    known = [e for e in names.registry.entities if "gateway" in e.name.casefold() and e.kind in ("", NodeKind.SERVICE)]
    return (RawName(known[0].name, known[0].kind), known[0].rid) if len(known) == 1 else None
