"""AsyncAPI 2 and 3: which channels an application publishes to and subscribes to.

The direction differs between the versions, the classic bug: in AsyncAPI 2 `publish` is what *others* may publish, so the described
application SUBSCRIBES, and `subscribe` is what others may subscribe to, so it PUBLISHES. AsyncAPI 3 says it of the application:
`send` PUBLISHES, `receive` SUBSCRIBES.
"""

from __future__ import annotations

import re
from typing import Final

import yaml

from designed.block_lines import BlockLines
from designed.labels import read_label
from designed.reader import Fact, Format, RawClaim, RawEntity, RawName, ReadContext, Reader, Reading
from designed.readers._yaml import documents, get, items, pairs, scalar, span, text_at
from nexus.model.claim import Via
from nexus.model.document import Problem, SourceText

_SNIFF: Final = re.compile(r"^[\"' {]*asyncapi[\"']?\s*:\s*[\"']?([23])", re.MULTILINE)
_FROM_CLIENT: Final = {"publish": "SUBSCRIBES", "subscribe": "PUBLISHES"}
_FROM_APPLICATION: Final = {"send": "PUBLISHES", "receive": "SUBSCRIBES"}


def accepts(text: SourceText) -> bool:
    """YAML or JSON with an `asyncapi` version."""
    return text.suffix in (".yaml", ".yml", ".json") and _SNIFF.search(text.text) is not None


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """A specification or a fence with one."""
    path = context.path if context else ""
    lines = BlockLines(body, first_line, column_offset)
    roots, faults = documents(body)
    reading = Reading(problems=tuple(Problem(path, lines.line(at), message) for at, message in faults))
    for root in roots:
        version = text_at(root, "asyncapi")
        if version:
            reading += _specification(lines, root, path, client_view=version.startswith("2"))
    return reading


def _specification(lines: BlockLines, root: yaml.Node, path: str, *, client_view: bool) -> Reading:
    title = get(root, "info", "title")
    if title is None or not scalar(title):
        return Reading(
            problems=(
                Problem(
                    path,
                    lines.line(root.start_mark.index),
                    "AsyncAPI without info.title: whose channels these are is open",
                ),
            )
        )
    place = lines.place(*span(title))
    application = RawName(scalar(title), "service")
    entities = [RawEntity(application.name, "service", place, declares=True)]
    claims = _version2(lines, root, application) if client_view else _version3(lines, root, application)
    entities += [RawEntity(name, "topic", claim.place) for name, claim in {c.target.name: c for c in claims}.items()]
    facts = (Fact("provides", application.name, application.name, "", place, {"format": "asyncapi"}),)
    return Reading(tuple(claims), tuple(entities), facts)


def _protocol(root: yaml.Node, names: list[str]) -> str:
    """Protocol of the named servers, or of all servers where a channel names none."""
    servers = {name: node for name, _, node in pairs(get(root, "servers"))}
    chosen = [servers[name] for name in names if name in servers] or list(servers.values())
    found = dict.fromkeys(
        read_label(text_at(server, "protocol")).protocol or text_at(server, "protocol")
        for server in chosen
        if text_at(server, "protocol")
    )
    return next(iter(found)) if len(found) == 1 else ""


def _version2(lines: BlockLines, root: yaml.Node, application: RawName) -> list[RawClaim]:
    found: list[RawClaim] = []
    for address, _, channel in pairs(get(root, "channels")):
        protocol = _protocol(root, [scalar(item) for item in items(get(channel, "servers"))])
        for verb, key, operation in pairs(channel):
            if verb not in _FROM_CLIENT:
                continue
            found.append(
                RawClaim(
                    _FROM_CLIENT[verb],
                    application,
                    RawName(address, "topic"),
                    lines.place(*span(key)),
                    f"asyncapi.v2.{verb}",
                    0.95,
                    Via(protocol, text_at(operation, "operationId"), address),
                    drawn="reversed",
                    attributes=_said(operation),
                )
            )
    return found


def _said(operation: yaml.Node) -> dict[str, str]:
    text = text_at(operation, "summary") or text_at(operation, "description")
    return {"label": " ".join(text.split())[:200]} if text else {}


def _version3(lines: BlockLines, root: yaml.Node, application: RawName) -> list[RawClaim]:
    found: list[RawClaim] = []
    channels = {name: node for name, _, node in pairs(get(root, "channels"))}
    for name, key, operation in pairs(get(root, "operations")):
        relation = _FROM_APPLICATION.get(text_at(operation, "action").lower())
        reference = text_at(operation, "channel", "$ref")
        if relation is None or not reference:
            continue
        ident = reference.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")
        channel = channels.get(ident)
        address = text_at(channel, "address") or ident
        servers = [text_at(item, "$ref").rsplit("/", 1)[-1] for item in items(get(channel, "servers"))]
        target = RawName(address, "topic", (ident,) if ident != address else ())
        # Quoted with its action where that follows at once, so that the direction can be seen.
        found.append(
            RawClaim(
                relation,
                application,
                target,
                lines.place(*span(key)),
                f"asyncapi.v3.{text_at(operation, 'action').lower()}",
                0.97,
                Via(_protocol(root, servers), name, address),
                attributes=_said(operation),
            )
        )
    return found


def read(text: SourceText, context: ReadContext) -> Reading:
    """The whole file."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("asyncapi", accepts, read, 10)
