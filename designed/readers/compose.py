"""Docker compose: services, their addresses, and what their environment says of others' addresses.

The reader gives facts; `designed.joins` makes claims of them, for values come from `.env` and names from other compose files.
`depends_on` of an ordinary service is start order; of a data store it means use, for nobody waits for a store that he does not use.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

import yaml

from designed.addresses import arguments
from designed.block_lines import BlockLines
from designed.kinds import ROLE_KIND, role_of
from designed.reader import Fact, Format, RawEntity, ReadContext, Reader, Reading
from designed.readers._yaml import documents, get, items, pairs, scalar, span, text_at
from nexus.model.document import Problem, SourceText

_NAME: Final = re.compile(
    r"(?:^|[-_.])(?:docker-)?compose(?:[-_.].*)?\.ya?ml$|^(?:docker-)?stack.*\.ya?ml$", re.IGNORECASE
)
_SNIFF: Final = re.compile(r"^services[ \t]*:", re.MULTILINE)
_SERVICE_KEYS: Final = re.compile(
    r"^[ \t]+(?:image|build|container_name|environment|depends_on|ports)[ \t]*:", re.MULTILINE
)


def image_name(image: str) -> str:
    """The technology in an image: "docker.io/library/postgres:16" -> "postgres"."""
    return re.sub(r"[:@].*$", "", image.rsplit("/", maxsplit=1)[-1])


def accepts(text: SourceText) -> bool:
    """By name, or any YAML with `services:` that look like compose's."""
    if text.suffix not in (".yaml", ".yml"):
        return False
    named = _NAME.search(posixpath.basename(text.path)) is not None
    return (named or _SERVICE_KEYS.search(text.text) is not None) and _SNIFF.search(text.text) is not None


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """A compose file or a fence with one."""
    path = context.path if context else ""
    lines = BlockLines(body, first_line, column_offset)
    roots, faults = documents(body)
    entities: list[RawEntity] = []
    facts: list[Fact] = []
    for root in roots:
        files = {name: text_at(config, "file") for name, _, config in pairs(get(root, "configs"))}
        for name, key, service in pairs(get(root, "services")):
            if isinstance(service, yaml.MappingNode):
                _service(lines, name, (key, service), entities, facts)
                facts += _mounted(lines, name, service, files)
    problems = tuple(Problem(path, lines.line(at), message) for at, message in faults)
    return Reading((), tuple(entities), tuple(facts), problems)


def _service(
    lines: BlockLines, name: str, nodes: tuple[yaml.Node, yaml.Node], entities: list[RawEntity], facts: list[Fact]
) -> None:
    key, service = nodes
    place = lines.place(*span(key))
    image = image_name(text_at(service, "image"))
    names = [text_at(service, "container_name"), text_at(service, "hostname")]
    for _, _, network in pairs(get(service, "networks")):
        names += [scalar(alias) for alias in items(get(network, "aliases"))]
    aliases = tuple(dict.fromkeys(n for n in names if n and n != name and "$" not in n))
    kind = ROLE_KIND[role_of(name, image)]
    entities.append(
        RawEntity(
            name,
            kind,
            place,
            aliases,
            declares=bool(image or get(service, "build")),
            attributes={"image": image} if image else {},
        )
    )
    comment = _comment(lines, key.start_mark.index)
    common = {"technology": image, "comment": comment, "format": "compose"}
    ports = ",".join(_ports(service))
    facts += [Fact("address", name, host, ports, place, common) for host in (name, *aliases)]
    facts += [
        Fact("env", name, variable, value, lines.place(*where), common)
        for variable, value, where in _environment(service)
    ]
    for part in ("command", "entrypoint"):
        node = get(service, part)
        for item in items(node) or ([node] if isinstance(node, yaml.ScalarNode) else []):
            facts += [
                Fact("argument", name, part, word, lines.place(*span(item)), common) for word in arguments(scalar(item))
            ]
    files = get(service, "env_file")
    for item in items(files) or ([files] if isinstance(files, yaml.ScalarNode) else []):
        node = item if scalar(item) else get(item, "path")
        if node is not None and scalar(node):
            facts.append(Fact("env_file", name, scalar(node), "", lines.place(*span(node)), common))
    depends = get(service, "depends_on")
    for item in items(depends):
        facts.append(Fact("starts_after", name, scalar(item), "", lines.place(*span(item)), common))
    facts += [
        Fact("starts_after", name, other, "", lines.place(*span(node)), common) for other, node, _ in pairs(depends)
    ]
    for item in items(get(service, "links")):
        facts.append(Fact("link", name, scalar(item).split(":")[0], "", lines.place(*span(item)), common))


def _mounted(lines: BlockLines, name: str, service: yaml.Node, files: dict[str, str]) -> list[Fact]:
    """Settings files that a service gets, as configs or as single files of volumes."""
    found: list[Fact] = []
    for item in items(get(service, "configs")):
        file = files.get(scalar(item) or text_at(item, "source"), "")
        if file:
            found.append(Fact("mounts", name, file, "", lines.place(*span(item)), {"format": "compose"}))
    for item in items(get(service, "volumes")):
        path = (scalar(item).split(":")[0]) or text_at(item, "source")
        if path.startswith(".") and path.endswith(".json"):
            found.append(Fact("mounts", name, path, "", lines.place(*span(item)), {"format": "compose"}))
    return found


def _ports(service: yaml.Node) -> list[str]:
    found = []
    for item in [*items(get(service, "ports")), *items(get(service, "expose"))]:
        text = scalar(item) or text_at(item, "target")
        found += re.findall(r"(\d{2,5})(?:/\w+)?$", text)
    return found


def _environment(service: yaml.Node) -> list[tuple[str, str, tuple[int, int]]]:
    """(variable, value, offsets) of both forms; an empty value means: taken from `.env`."""
    node = get(service, "environment")
    found = []
    for item in items(node):
        variable, equals, value = scalar(item).partition("=")
        if variable.strip():
            found.append((variable.strip(), value if equals else "", span(item)))
    found += [
        (variable, scalar(value), span(key, value if scalar(value) else key)) for variable, key, value in pairs(node)
    ]
    return found


def _comment(lines: BlockLines, offset: int) -> str:
    """Comment lines right above a service."""
    text, found = lines.text, []
    end = text.rfind("\n", 0, offset)
    while end > 0:
        start = text.rfind("\n", 0, end)
        line = text[start + 1 : end].strip()
        if not line.startswith("#"):
            break
        found.append(line.lstrip("# "))
        end = start
    return " ".join(reversed(found))


def read(text: SourceText, context: ReadContext) -> Reading:
    """The whole file."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("compose", accepts, read, 10)
