"""Structurizr workspaces as JSON: the model's relationships, components rolled up to their containers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import yaml

from designed.block_lines import BlockLines
from designed.drawing import Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role
from designed.labels import modality_of, read_label
from designed.reader import Format, ReadContext, Reader, Reading
from designed.readers._yaml import get, items, json_tree, pairs, span, text_at
from nexus.model.claim import Modality
from nexus.model.document import Problem, SourceText

_SNIFF: Final = re.compile(r"\"(?:softwareSystems|people)\"\s*:\s*\[")


def accepts(text: SourceText) -> bool:
    """JSON with a model of people or software systems."""
    return text.suffix == ".json" and '"model"' in text.text and _SNIFF.search(text.text) is not None


def read(text: SourceText, context: ReadContext) -> Reading:
    """The model; views only show it."""
    lines = BlockLines(text.text)
    root = json_tree(text.text)
    if root is None:
        return Reading(problems=(Problem(context.path, 1, "no JSON"),))
    diagram = Diagram()
    relations: list[tuple[str, yaml.Node]] = []
    model = get(root, "model")
    for person in items(get(model, "people")):
        _element(diagram, lines, person, "person", (), relations)
    for system in items(get(model, "softwareSystems")):
        ident = _element(diagram, lines, system, "softwaresystem", (), relations)
        for container in items(get(system, "containers")):
            inner = _element(diagram, lines, container, "container", (ident,), relations)
            for component in items(get(container, "components")):
                _element(diagram, lines, component, "component", (inner, ident), relations)
    for source, relation in relations:
        _relation(diagram, lines, source, relation)
    return Reading(diagram.claims(), diagram.entities())


def _pair(node: yaml.Node, *keys: str) -> tuple[int, int]:
    """Offsets of the first of the keys with its value."""
    found = {name: (key, value) for name, key, value in pairs(node)}
    return next((span(*found[key]) for key in keys if key in found), span(node))


def _element(
    diagram: Diagram,
    lines: BlockLines,
    node: yaml.Node,
    sort: str,
    within: tuple[str, ...],
    relations: list[tuple[str, yaml.Node]],
) -> str:
    ident, name = text_at(node, "id"), text_at(node, "name")
    tags, technology = text_at(node, "tags"), text_at(node, "technology")
    hint = (
        Role.PERSON if sort == "person" else (Role.STORE if re.search(r"\bdatabase\b", tags, re.IGNORECASE) else None)
    )
    if hint is None and (
        text_at(node, "location").lower() == "external" or re.search(r"\bexternal\b", tags, re.IGNORECASE)
    ):
        hint = Role.EXTERNAL
    if sort == "softwaresystem":
        diagram.groups[ident] = name
    diagram.nodes[ident] = DrawnNode(
        ident,
        name or ident,
        node_role(name or ident, technology, hint),
        lines.place(*_pair(node, "name", "id")),
        within=within,
        shape=sort,
        part_of=within[0] if sort == "component" else "",
        technology=technology,
    )
    relations += [(ident, relation) for relation in items(get(node, "relationships"))]
    return ident


def _relation(diagram: Diagram, lines: BlockLines, source: str, relation: yaml.Node) -> None:
    source, target = text_at(relation, "sourceId") or source, text_at(relation, "destinationId")
    if source not in diagram.nodes or target not in diagram.nodes or text_at(relation, "linkedRelationshipId"):
        # A linked relationship is implied by another one.
        return
    description, technology, tags = (text_at(relation, key) for key in ("description", "technology", "tags"))
    modality = modality_of(tags.replace(",", " "))
    words = read_label(description)
    label = replace(
        words,
        protocol=read_label(f"{description} {technology}").protocol,
        modality=words.modality if modality in (Modality.ASSERTED, Modality.CONDITIONAL) else modality,
    )
    diagram.edges.append(
        DrawnEdge(
            source,
            target,
            label,
            lines.place(*_pair(relation, "description", "destinationId")),
            rule="structurizr.relationship",
            confidence=0.97,
            attributes={"technology": technology} if technology else {},
        )
    )


READER: Final[Reader] = Format("structurizr_json", accepts, read, 12)
