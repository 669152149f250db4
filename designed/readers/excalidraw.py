"""Excalidraw: arrows bound to shapes at both ends. An arrow that floats is not read: what it points at is a guess."""

from __future__ import annotations

import re
from typing import Final

import yaml

from designed.block_lines import BlockLines
from designed.drawing import Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import first_name
from designed.labels import read_label
from designed.reader import Format, ReadContext, Reader, Reading
from designed.readers._yaml import get, items, json_tree, pairs, scalar, span, text_at
from nexus.model.document import Problem, SourceText

_SHAPES: Final = frozenset({"rectangle", "ellipse", "diamond", "image", "frame", "text"})


def _place_node(element: yaml.Node, key: str) -> tuple[int, int]:
    """Offsets of a key with its value in an element."""
    found = next(((k, value) for name, k, value in pairs(element) if name == key), None)
    return span(*found) if found else span(element)


def read(text: SourceText, context: ReadContext) -> Reading:
    """All elements of the drawing."""
    lines = BlockLines(text.text)
    root = json_tree(text.text)
    if root is None:
        return Reading(problems=(Problem(context.path, 1, "no JSON"),))
    elements = [item for item in items(get(root, "elements")) if text_at(item, "isDeleted") != "true"]
    written: dict[str, str] = {}
    for element in elements:
        container = text_at(element, "containerId")
        if text_at(element, "type") == "text" and container:
            raw = get(element, "originalText") or get(element, "text")
            written[container] = str(raw.value) if isinstance(raw, yaml.ScalarNode) else ""
    diagram = Diagram()
    for element in elements:
        sort, ident = text_at(element, "type"), text_at(element, "id")
        raw = get(element, "text")
        label = first_name(
            (
                written.get(ident, "")
                or (str(raw.value) if isinstance(raw, yaml.ScalarNode) else "")
                or text_at(element, "name")
            ).split("\n")
        )
        if sort not in _SHAPES or not label or (sort == "text" and text_at(element, "containerId")):
            continue
        frame = text_at(element, "frameId")
        if sort == "frame":
            diagram.groups[ident] = label
        diagram.nodes[ident] = DrawnNode(
            ident,
            label,
            node_role(label),
            lines.place(*_place_node(element, "id")),
            within=(frame,) if frame else (),
            shape=sort,
            group=sort == "frame",
        )
    for element in elements:
        if text_at(element, "type") not in ("arrow", "line"):
            continue
        a, b = text_at(element, "startBinding", "elementId"), text_at(element, "endBinding", "elementId")
        if a not in diagram.nodes or b not in diagram.nodes:
            continue
        start, end = scalar(get(element, "startArrowhead")), scalar(get(element, "endArrowhead"))
        pairs_ = [(a, b)] if end or not start else []
        pairs_ += [(b, a)] if start else []
        label_text = written.get(text_at(element, "id"), "")
        extra = {"line": "dotted"} if text_at(element, "strokeStyle") in ("dashed", "dotted") else {}
        place = lines.place(*_place_node(element, "id"))
        diagram.edges += [
            DrawnEdge(
                x, y, read_label(label_text), place, bool(start or end), "excalidraw.arrow", 0.92, attributes=extra
            )
            for x, y in pairs_
        ]
    return Reading(diagram.claims(), diagram.entities())


def accepts(text: SourceText) -> bool:
    """Excalidraw's suffix, or JSON that says it is one."""
    return text.suffix == ".excalidraw" or (
        text.suffix == ".json" and re.search(r"\"type\"\s*:\s*\"excalidraw\"", text.text[:2048]) is not None
    )


READER: Final[Reader] = Format("excalidraw", accepts, read, 15)
