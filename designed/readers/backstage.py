"""Backstage catalogs: `dependsOn`, `consumesApis`, `providesApis` of components."""

from __future__ import annotations

import re
from typing import Final

import yaml

from designed.block_lines import BlockLines
from designed.kinds import ROLE_KIND, Role, role_of
from designed.reader import Fact, Format, RawClaim, RawEntity, RawName, ReadContext, Reader, Reading
from designed.readers._yaml import documents, get, items, mask_templates, scalar, span, text_at
from nexus.model.claim import Modality
from nexus.model.document import Problem, SourceText

_SNIFF: Final = re.compile(r"^[\"' {-]*apiVersion[\"']?\s*:\s*[\"']?backstage\.io/", re.MULTILINE)
_REFERENCE: Final = re.compile(r"^(?:(?P<kind>[A-Za-z]+):)?(?:(?P<namespace>[\w.-]+)/)?(?P<name>[\w.-]+)$")
_ENTITY_KINDS: Final = {"component": "service", "resource": "", "api": "api"}


def accepts(text: SourceText) -> bool:
    """YAML with an entity of backstage.io."""
    return text.suffix in (".yaml", ".yml", ".json") and _SNIFF.search(text.text) is not None


def read(text: SourceText, context: ReadContext) -> Reading:
    """All entities of the file."""
    lines = BlockLines(text.text)
    roots, faults = documents(mask_templates(text.text))
    reading = Reading(problems=tuple(Problem(context.path, lines.line(at), message) for at, message in faults))
    for root in roots:
        if text_at(root, "apiVersion").startswith("backstage.io/"):
            reading += _entity(lines, root)
    return reading


def _resource_kind(name: str, sort: str) -> str:
    role = role_of(name, sort)
    return ROLE_KIND[role] if role is not Role.SERVICE else ""


def _entity(lines: BlockLines, root: yaml.Node) -> Reading:
    kind, name_node = text_at(root, "kind").lower(), get(root, "metadata", "name")
    name = scalar(name_node)
    if kind not in _ENTITY_KINDS or name_node is None or not name:
        return Reading()
    place = lines.place(*span(name_node))
    sort, title = text_at(root, "spec", "type"), text_at(root, "metadata", "title")
    entity_kind = _ENTITY_KINDS[kind] or _resource_kind(name, sort) or "database"
    entity = RawEntity(
        name,
        entity_kind,
        place,
        (title,) if title and title != name else (),
        declares=True,
        owner=text_at(root, "spec", "owner"),
        attributes={"type": sort} if sort else {},
    )
    modality = Modality.DEPRECATED if text_at(root, "spec", "lifecycle") == "deprecated" else Modality.ASSERTED
    claims: list[RawClaim] = []
    facts: list[Fact] = []
    common = {"format": "backstage"}
    for item in items(get(root, "spec", "dependsOn")):
        target = _target(scalar(item))
        if target is not None and kind != "api":
            claims.append(
                RawClaim(
                    "CALLS",
                    RawName(name, entity_kind),
                    target,
                    lines.place(*span(item)),
                    "backstage.depends_on",
                    0.9,
                    modality=modality,
                )
            )
    for item in items(get(root, "spec", "dependencyOf")):
        source = _target(scalar(item))
        if source is not None:
            claims.append(
                RawClaim(
                    "CALLS",
                    source,
                    RawName(name, entity_kind),
                    lines.place(*span(item)),
                    "backstage.dependency_of",
                    0.9,
                    modality=modality,
                    drawn="reversed",
                )
            )
    for item in items(get(root, "spec", "consumesApis")):
        match = _REFERENCE.match(scalar(item))
        if match and (match.group("kind") or "api").lower() == "component":
            # Not canonical, but seen: the component itself is named.
            claims.append(
                RawClaim(
                    "CALLS",
                    RawName(name, "service"),
                    RawName(match.group("name"), "service"),
                    lines.place(*span(item)),
                    "backstage.consumes",
                    0.9,
                    modality=modality,
                )
            )
        elif match:
            facts.append(Fact("consumes", name, match.group("name"), "", lines.place(*span(item)), common))
    for item in items(get(root, "spec", "providesApis")):
        match = _REFERENCE.match(scalar(item))
        if match:
            facts.append(Fact("provides", name, match.group("name"), "", lines.place(*span(item)), common))
    return Reading(tuple(claims), (entity,), tuple(facts))


def _target(reference: str) -> RawName | None:
    match = _REFERENCE.match(reference)
    if match is None:
        return None
    kind = (match.group("kind") or "component").lower()
    if kind not in _ENTITY_KINDS:
        return None
    name = match.group("name")
    return RawName(name, _ENTITY_KINDS[kind] or _resource_kind(name, ""))


READER: Final[Reader] = Format("backstage", accepts, read, 8)
