"""draw.io (diagrams.net): arrows between named shapes, in plain and in compressed pages.

The place is the arrow's own element; in a compressed page (deflate in base64) the text cannot be quoted, and the place is the
page's `<diagram>` tag. Files larger than a limit after unpacking, and files with a document type declaration, are problems.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import urllib.parse
import zlib
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from designed.block_lines import BlockLines
from designed.chart_kind import mark
from designed.drawing import Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role, first_name
from designed.labels import read_label
from designed.reader import Format, Place, ReadContext, Reader, Reading
from nexus.model.document import Problem, SourceText

_MAX_UNPACKED: Final = 32 * 1024 * 1024
_TAG: Final = re.compile(r"<[^<>]*>")
_BREAK: Final = re.compile(r"<(?:br|/div|/p|/li|div|p)\b[^<>]*>|\n", re.IGNORECASE)
_STORE_STYLE: Final = re.compile(
    r"shape=(?:cylinder|mxgraph\.[\w.]*(?:database|rds|dynamo|aurora|elasticache)|datastore)", re.IGNORECASE
)
_ACTOR_STYLE: Final = re.compile(r"shape=(?:umlActor|actor|mxgraph\.[\w.]*user)", re.IGNORECASE)


@dataclass(slots=True)
class _Cell:
    id: str
    value: str
    style: str
    parent: str
    source: str
    target: str
    vertex: bool
    edge: bool
    place: Place


@dataclass(slots=True)
class _Page:
    place: Place
    cells: list[_Cell] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _Parser:
    """Cells of all pages, with the offsets of their tags."""

    def __init__(self, text: str, lines: BlockLines | None, place: Place | None = None) -> None:
        self.raw = text.encode("utf-8", "surrogatepass")
        self.text = text
        self.ascii = len(self.raw) == len(text)
        self.lines = lines
        self.place = place
        self.pages: list[_Page] = []
        self.wrapper: dict[str, str] = {}
        self.problem: tuple[int, str] | None = None
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.parser.StartDoctypeDeclHandler = self._doctype

    def run(self) -> None:
        """Parse; what was read before a fault stays."""
        try:
            self.parser.Parse(self.raw, True)  # noqa: FBT003
        except expat.ExpatError as fault:
            self.problem = (fault.lineno, str(fault).split(":", maxsplit=1)[0])
        except ValueError as fault:
            self.problem = (1, str(fault))

    def _doctype(self, *_: object) -> None:
        raise ValueError("a document type declaration is not read")

    def _here(self) -> Place:
        if self.lines is None and self.place is not None:
            return self.place
        start = self.parser.CurrentByteIndex
        if not self.ascii:
            start = len(self.raw[:start].decode("utf-8", "replace"))
        end = self.text.find(">", start)
        lines = self.lines or BlockLines(self.text)
        return lines.place(start, len(self.text) if end < 0 else end + 1)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "diagram":
            self.pages.append(_Page(self._here()))
        elif name in ("object", "UserObject"):
            self.wrapper = attributes
        elif name == "mxCell":
            if not self.pages:
                self.pages.append(_Page(self._here()))
            both = {**self.wrapper, **attributes}
            value = self.wrapper.get("label", attributes.get("value", ""))
            self.pages[-1].cells.append(
                _Cell(
                    both.get("id", ""),
                    value,
                    attributes.get("style", ""),
                    attributes.get("parent", ""),
                    attributes.get("source", ""),
                    attributes.get("target", ""),
                    attributes.get("vertex") == "1",
                    attributes.get("edge") == "1",
                    self._here(),
                )
            )

    def _end(self, name: str) -> None:
        if name in ("object", "UserObject"):
            self.wrapper = {}

    def _data(self, data: str) -> None:
        if self.pages and data.strip():
            self.pages[-1].text.append(data)


def _unpack(packed: str) -> str:
    """The XML of a compressed page. Raises ValueError where it is none, or too large."""
    try:
        inflater = zlib.decompressobj(-15)
        data = inflater.decompress(base64.b64decode("".join(packed.split()), validate=True), _MAX_UNPACKED)
    except (binascii.Error, zlib.error) as fault:
        raise ValueError(f"cannot unpack the page: {fault}") from fault
    if inflater.unconsumed_tail:
        raise ValueError("the page is too large unpacked")
    return urllib.parse.unquote(data.decode("utf-8", "replace"))


def _words(value: str) -> str:
    """The name in a cell: HTML's first line, with brackets of the next."""
    return first_name([html.unescape(_TAG.sub("", part)) for part in _BREAK.split(value)])


def _style(style: str, key: str) -> str:
    match = re.search(rf"(?:^|;){key}=([^;]*)", style)
    return match.group(1) if match else ""


def _diagram(cells: list[_Cell]) -> Diagram:
    diagram = Diagram()
    by_id = {cell.id: cell for cell in cells}
    labels: dict[str, list[str]] = {}
    parents = {cell.parent for cell in cells if cell.vertex}
    for cell in cells:
        parent = by_id.get(cell.parent)
        if cell.vertex and parent is not None and parent.edge:
            labels.setdefault(parent.id, []).append(" ".join(html.unescape(_TAG.sub(" ", cell.value)).split()))
        elif cell.vertex and _words(cell.value):
            _vertex(diagram, cell, by_id, group=cell.id in parents)
    for cell in cells:
        if not cell.edge or cell.source not in diagram.nodes or cell.target not in diagram.nodes:
            continue
        text = " ".join([" ".join(html.unescape(_TAG.sub(" ", cell.value)).split()), *labels.get(cell.id, [])]).strip()
        forward, backward = (
            _style(cell.style, "endArrow") != "none",
            _style(cell.style, "startArrow") not in ("", "none"),
        )
        pairs = [(cell.source, cell.target)] if forward or not backward else []
        pairs += [(cell.target, cell.source)] if backward else []
        extra = {"line": "dotted"} if _style(cell.style, "dashed") == "1" else {}
        diagram.edges += [
            DrawnEdge(a, b, read_label(text), cell.place, forward or backward, "drawio.edge", 0.92, attributes=extra)
            for a, b in pairs
        ]
    mark(diagram)
    diagram.fold()
    return diagram


def _vertex(diagram: Diagram, cell: _Cell, by_id: dict[str, _Cell], *, group: bool) -> None:
    name = _words(cell.value)
    hint = Role.STORE if _STORE_STYLE.search(cell.style) else (Role.CLIENT if _ACTOR_STYLE.search(cell.style) else None)
    within: list[str] = []
    parent = by_id.get(cell.parent)
    while parent is not None and parent.vertex and parent.id not in within:
        within.append(parent.id)
        parent = by_id.get(parent.parent)
    if group:
        diagram.groups[cell.id] = name
    shape = "container" if group else _style(cell.style, "shape")
    node = DrawnNode(
        cell.id, name, node_role(name, hint=hint), cell.place, within=tuple(within), shape=shape, group=group
    )
    diagram.nodes[cell.id] = node


def accepts(text: SourceText) -> bool:
    """draw.io's suffixes, or XML with its root element."""
    return text.suffix in (".drawio", ".dio") or (
        text.suffix in (".xml", ".svg") and re.search(r"<(?:mxfile|mxGraphModel)\b", text.text[:4096]) is not None
    )


def read(text: SourceText, context: ReadContext) -> Reading:
    """All pages."""
    parser = _Parser(text.text, BlockLines(text.text))
    parser.run()
    problems = [Problem(context.path, *parser.problem)] if parser.problem else []
    reading = Reading()
    for page in parser.pages:
        cells, packed = page.cells, "".join(page.text).strip()
        if not cells and packed:
            try:
                inner = _Parser(_unpack(packed), None, page.place)
            except ValueError as fault:
                problems.append(Problem(context.path, page.place.lines[0], str(fault)))
                continue
            inner.run()
            cells = [cell for part in inner.pages for cell in part.cells]
        diagram = _diagram(cells)
        reading += Reading(diagram.claims(), diagram.entities())
    return reading + Reading(problems=tuple(problems))


READER: Final[Reader] = Format("drawio", accepts, read)
