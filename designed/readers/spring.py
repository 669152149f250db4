"""Settings of Spring applications (`application.yml`, `bootstrap-prod.properties`, a file per application of a config server).

Addresses under their dotted keys are facts of the application: joined where the names of the others are known. Routes of Spring Cloud
Gateway (`uri: lb://orders`) and bindings of Spring Cloud Stream (`orders-out-0.destination`) say all by themselves.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import yaml

from designed.block_lines import BlockLines
from designed.reader import Fact, Format, Place, RawClaim, RawEntity, RawName, ReadContext, Reader, Reading
from designed.readers._yaml import documents, pairs, scalar
from nexus.model.claim import Via
from nexus.model.document import Problem, SourceText

_FILE: Final = re.compile(r"(?:application|bootstrap)(?:[-_][\w-]+)?\.(?:ya?ml|properties)$")
_TOP: Final = re.compile(r"^(?:spring|eureka|feign|resilience4j)(?:\.[\w.-]+)?\s*[:=]", re.MULTILINE)
_NAME: Final = "spring.application.name"
# Spring writes a default behind a colon; the join resolves the shell's spelling.
_DEFAULT: Final = re.compile(r"\$\{([\w.-]+):([^{}]*)\}")
# Keys of Spring's own whose value is a host, whatever it looks like.
_HOST: Final = re.compile(
    r"spring\.(?:data\.)?(redis|mongodb|rabbitmq|elasticsearch|cassandra|neo4j|ldap)\.(?:host|contact-?points|addresses|uris?|urls)$"
)
_BARE: Final = re.compile(r"[a-z][\w-]*(?:\.[\w-]+)*")
_ROUTE: Final = re.compile(r"spring\.cloud\.gateway\.(?:server\.web\w+\.)?routes\[\d+\]\.uri$")
_BINDING: Final = re.compile(r"spring\.cloud\.stream\.bindings\.([\w.-]+)\.destination$")
_CHANNEL: Final = re.compile(r"(?:topics?|destination|queue|exchange)(?:[.-]?name)?(?:\[\d+\])?$", re.IGNORECASE)
_READS: Final = re.compile(
    r"(?:^|[.-])(?:consumer|listener|subscriber|subscription|input|inbound|in)s?(?=[.-])", re.IGNORECASE
)
_WRITES: Final = re.compile(r"(?:^|[.-])(?:producer|publisher|output|outbound|out)s?(?=[.-])", re.IGNORECASE)
_TOPIC: Final = re.compile(r"[A-Za-z][\w.:/-]{2,}")
_MAX_DEPTH: Final = 12


@dataclass(frozen=True, slots=True)
class Setting:
    """One value under its dotted key."""

    key: str
    value: str
    place: Place


def accepts(text: SourceText) -> bool:
    """By name, or by a top-level `spring:` in a file called after an application."""
    if text.suffix not in (".yml", ".yaml", ".properties"):
        return False
    return _FILE.match(posixpath.basename(text.path)) is not None or (
        _TOP.search(text.text) is not None and "apiVersion:" not in text.text
    )


def read(text: SourceText, context: ReadContext) -> Reading:
    """Facts and claims of one application; nothing where no application is told."""
    lines = BlockLines(text.text)
    settings, faults = settings_of(text.text, text.suffix, lines)
    problems = tuple(Problem(context.path or text.path, lines.line(at), message) for at, message in faults)
    own = next((s for s in settings if s.key == _NAME and "$" not in s.value), None)
    name = own.value if own is not None else _owner(text.path, context)
    if not name or not settings:
        return Reading(problems=problems)
    common = {"format": "spring"}
    facts = [
        Fact("env", name, s.key, address_of(s), s.place, common)
        for s in settings
        if s.key != _NAME and not _ROUTE.match(s.key) and not _BINDING.match(s.key)
    ]
    entities: tuple[RawEntity, ...] = ()
    if own is not None:
        entities = (RawEntity(name, "service", own.place, declares=True),)
        facts.append(
            Fact(
                "address",
                name,
                name,
                next((s.value for s in settings if s.key == "server.port" and s.value.isdigit()), ""),
                own.place,
                common,
            )
        )
    return Reading(
        tuple(claim for s in settings if (claim := _claim(name, s)) is not None), entities, tuple(facts), problems
    )


def settings_of(text: str, suffix: str, lines: BlockLines) -> tuple[list[Setting], list[tuple[int, str]]]:
    """Values of a YAML or properties text, and (offset, message) of what cannot be read."""
    if suffix == ".properties":
        return list(_properties(text, lines)), []
    roots, faults = documents(text)
    return [setting for root in roots for setting in _flat(root, "", lines, 0)], faults


def address_of(setting: Setting) -> str:
    """The value as the join reads it: defaults in the shell's spelling, bare hosts with their protocol."""
    host = _HOST.match(setting.key)
    value = _DEFAULT.sub(r"${\1:-\2}", setting.value)
    return f"{host[1]}://{value}" if host is not None and _BARE.fullmatch(value) else value


def _owner(path: str, context: ReadContext) -> str:
    """The application of a file that does not name it: the unprofiled file's beside it, its module's folder, or the file's own name."""
    folder, base = posixpath.split(path)
    if _FILE.match(base) is None:
        stem = re.sub(r"(?:-(?:dev|prod|local|test|stage|staging|docker|default|k8s|kubernetes))?\.\w+$", "", base)
        return (
            stem
            if re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", stem) and stem not in ("config", "settings", "default")
            else ""
        )
    for sibling in (
        "application.yml",
        "application.yaml",
        "application.properties",
        "bootstrap.yml",
        "bootstrap.properties",
    ):
        other = context.read_file(posixpath.join(folder, sibling)) if sibling != base else None
        if other and (
            stated := next(
                (
                    s.value
                    for s in settings_of(other, posixpath.splitext(sibling)[1], BlockLines(other))[0]
                    if s.key == _NAME
                ),
                "",
            )
        ):
            return stated
    module = re.search(r"(?:^|/)([\w.-]+)/src/(?:main|test)/resources(?:/|$)", folder + "/")
    return module[1] if module is not None and "/src/test/" not in folder + "/" else ""


def _properties(text: str, lines: BlockLines) -> Iterator[Setting]:
    for match in re.finditer(r"^[ \t]*([A-Za-z][\w.\[\]-]*)[ \t]*[=:][ \t]*(\S.*?)[ \t]*$", text, re.MULTILINE):
        yield Setting(match[1], match[2], lines.place(match.start(1), match.end(2)))


def _flat(node: yaml.Node, path: str, lines: BlockLines, depth: int) -> Iterator[Setting]:
    """Scalars with their dotted keys, as Spring spells them: `routes[0].uri`."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            if scalar(item):
                yield Setting(f"{path}[{index}]", scalar(item), lines.place(item.start_mark.index, item.end_mark.index))
            else:
                yield from _flat(item, f"{path}[{index}]", lines, depth + 1)
    for key, k, value in pairs(node):
        dotted = f"{path}.{key}" if path else key
        if scalar(value):
            yield Setting(dotted, scalar(value), lines.place(k.start_mark.index, value.end_mark.index))
        else:
            yield from _flat(value, dotted, lines, depth + 1)


def _claim(name: str, setting: Setting) -> RawClaim | None:
    """What a setting says by itself."""
    value = setting.value
    if _ROUTE.match(setting.key):
        match = re.match(r"(lb|https?)(?::ws)?://([A-Za-z][\w-]*)(?=[:/]|$)", value)
        if match is None or match[2].casefold() in ("localhost", name.casefold()):
            return None
        return RawClaim(
            "CALLS",
            RawName(name, "service"),
            RawName(match[2].lower(), "service"),
            setting.place,
            "spring.route",
            0.92,
            Via("http"),
        )
    binding = _BINDING.match(setting.key)
    if binding is not None:
        reads, writes = re.search(r"-in-\d+$|^input$", binding[1]), re.search(r"-out-\d+$|^output$", binding[1])
    elif _CHANNEL.search(setting.key):
        reads, writes = _READS.search(setting.key), _WRITES.search(setting.key)
    else:
        return None
    if (reads is None) == (writes is None) or not _TOPIC.fullmatch(value):
        return None
    relation = "SUBSCRIBES" if reads else "PUBLISHES"
    return RawClaim(
        relation,
        RawName(name, "service"),
        RawName(value, "topic"),
        setting.place,
        "spring.channel",
        0.85,
        Via("", "", value),
    )


READER: Final[Reader] = Format("spring", accepts, read, 13)
