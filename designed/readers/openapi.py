"""OpenAPI 3 and Swagger 2: an API, what it provides, and the backends that gateway extensions name. Callers stand elsewhere."""

from __future__ import annotations

import re
from typing import Final

import yaml

from designed.addresses import addresses
from designed.block_lines import BlockLines
from designed.reader import Fact, Format, RawClaim, RawEntity, RawName, ReadContext, Reader, Reading
from designed.readers._yaml import documents, get, items, pairs, scalar, span, text_at
from nexus.model.claim import Via
from nexus.model.document import Problem, SourceText

_SNIFF: Final = re.compile(r"^[\"' {]*(?:openapi|swagger)[\"']?\s*:\s*[\"']?[23]\.", re.MULTILINE)
_METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
# Extension -> key of the backend's address in it.
_BACKENDS: Final = {
    "x-google-backend": "address",
    "x-amazon-apigateway-integration": "uri",
    "x-backend": "url",
    "x-upstream": "url",
}


def accepts(text: SourceText) -> bool:
    """YAML or JSON with an `openapi` or `swagger` version."""
    return text.suffix in (".yaml", ".yml", ".json") and _SNIFF.search(text.text) is not None


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """A specification or a fence with one."""
    path = context.path if context else ""
    lines = BlockLines(body, first_line, column_offset)
    roots, faults = documents(body)
    reading = Reading(problems=tuple(Problem(path, lines.line(at), message) for at, message in faults))
    for root in roots:
        if text_at(root, "openapi") or text_at(root, "swagger"):
            reading += _specification(lines, root)
    return reading


def _specification(lines: BlockLines, root: yaml.Node) -> Reading:
    title = get(root, "info", "title")
    if title is None or not scalar(title):
        return Reading()
    name, place = scalar(title), lines.place(*span(title))
    servers = [text_at(item, "url") for item in items(get(root, "servers"))]
    hosts = tuple(dict.fromkeys(a.host for url in servers for a in addresses(url)))
    entity = RawEntity(
        name, "api", place, hosts, declares=True, attributes={"version": text_at(root, "info", "version")}
    )
    facts: list[Fact] = [Fact("provides", name, name, "", place, {"format": "openapi"})]
    claims = _backends(lines, root, name, "")
    for path, _, item in pairs(get(root, "paths")):
        for method, key, operation in pairs(item):
            if method in _METHODS:
                facts.append(
                    Fact(
                        "operation",
                        name,
                        f"{method.upper()} {path}",
                        text_at(operation, "operationId"),
                        lines.place(*span(key)),
                        {"format": "openapi"},
                    )
                )
                claims += _backends(lines, operation, name, f"{method.upper()} {path}")
    return Reading(tuple(claims), (entity,), tuple(facts))


def _backends(lines: BlockLines, node: yaml.Node, name: str, operation: str) -> list[RawClaim]:
    found: list[RawClaim] = []
    for extension, key in _BACKENDS.items():
        value = get(node, extension, key)
        if value is None:
            continue
        for address in addresses(scalar(value), key):
            target = RawName(address.host.split(".")[0], "service", (address.host,))
            found.append(
                RawClaim(
                    "CALLS",
                    RawName(name, "api"),
                    target,
                    lines.place(*span(value)),
                    "openapi.backend",
                    0.85,
                    Via("http", operation),
                )
            )
    return found


def read(text: SourceText, context: ReadContext) -> Reading:
    """The whole file."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("openapi", accepts, read, 10)
