"""PlantUML: component, deployment and sequence diagrams, and C4-PlantUML; `!include` of local files gives their elements.

Arrows of an included file are read where they stand, with that file. Diagrams that show no dependencies (class, state, activity,
gantt, mind map, JSON, salt) give an empty reading.
"""

from __future__ import annotations

import re
from typing import Final

from designed.block_lines import BlockLines
from designed.chart_kind import mark
from designed.drawing import Diagram
from designed.reader import Format, ReadContext, Reader, Reading
from designed.readers._c4 import C4, parse_call
from designed.readers._include import beside
from designed.readers._plantuml_component import Components, provide
from designed.readers._plantuml_sequence import Messages
from designed.readers._plantuml_text import Part, parts, statements
from nexus.model.document import Problem, SourceText

_SUFFIXES: Final = (".puml", ".plantuml", ".pu", ".wsd", ".iuml")
_SILENT: Final = re.compile(
    r"(?:!|@|skinparam|title|header|footer|caption|hide|show|scale|left to right|top to bottom|allow|newpage|autonumber|activate|deactivate|destroy|return"
    r"|note\b|hnote\b|rnote\b|end note|legend|mainframe|==|\.\.\.|\|\||ref over|page|set\b|remove\b|restore\b|order\b|center\b|right\b|left\b|\}|\{)",
    re.IGNORECASE,
)
_ARROW_NEXT: Final = re.compile(r"[\w\"\[(:]\S*\s+[<o*#x+^}|]{0,2}[-.=~]+\S*\s")
_COMPONENT: Final = re.compile(
    r"^\s*(?:component|node|package|rectangle|cloud|folder|frame|storage|artifact|interface|agent|card|hexagon|stack|usecase)\b|^\s*\[[^\]\n]+\]|^\s*\(\)|-->?\s*\[",
    re.MULTILINE,
)
_SEQUENCE: Final = re.compile(
    r"^\s*(?:participant|activate|deactivate|autonumber|alt\b|loop\b|opt\b|==.+==|return\b|boundary|control|collections)"
    # Half an arrow head: only messages have one.
    r"|^\s*\S+\s+(?:-+[\\/]{1,2}|[\\/]{1,2}-+)\s+\S+",
    re.MULTILINE,
)
_OTHER: Final = re.compile(
    r"^\s*(?:(?:abstract\s+)?class\s|enum\s|annotation\s|object\s|state\s|\[\*\]|start\s*$|stop\s*$|:[^:\n]+;\s*$|salt\b|map\s|robust\s|concise\s"
    r"|entity\s+\S+(?:\s+as\s+\w+)?\s*\{)",
    re.MULTILINE,
)
_C4_CALL: Final = re.compile(
    r"^\s*(?:Bi)?(?:Rel|Person|System|Container|Component|Deployment_Node|Node|Boundary)\w*\s*\(", re.MULTILINE
)
_INCLUDE: Final = re.compile(r"!include(?:_once|sub|_many)?\s+(.+?)\s*$")
_MAX_INCLUDES: Final = 32


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """All diagrams of a file or of a fence's body."""
    context = context or ReadContext()
    lines = BlockLines(body, first_line, column_offset)
    reading = Reading()
    for part in parts(body):
        reading += _read_part(lines, part, context)
    return reading


def _read_part(lines: BlockLines, part: Part, context: ReadContext) -> Reading:
    problems = [] if part.closed else [Problem(context.path, lines.line(part.start), "@startuml without @enduml")]
    diagram = draw(lines, part, context, problems)
    if any(node.shape == "interface" for node in diagram.nodes.values()):
        provide(diagram)
    mark(diagram)
    diagram.fold()
    return Reading(diagram.claims(), diagram.entities(), problems=tuple(problems))


def draw(lines: BlockLines, part: Part, context: ReadContext, problems: list[Problem]) -> Diagram:
    """What is drawn, before it is read as dependencies; empty for diagrams of another kind."""
    body = lines.text[part.start : part.end]
    c4 = bool(_C4_CALL.search(body))
    if not c4 and _OTHER.search(body) and not re.search(r"^\s*(?:component|participant)\b", body, re.MULTILINE):
        return Diagram()
    diagram = Diagram()
    for included in _includes(body, context):
        _draw(BlockLines(included), Part(0, len(included)), diagram, [], "", c4=c4)
    diagram.edges.clear()
    diagram.foreign.update(diagram.nodes)
    if (
        not c4
        and not _COMPONENT.search(body)
        and (_SEQUENCE.search(body) or re.search(r"^\s*\S.*->.*:", body, re.MULTILINE))
    ):
        messages = Messages(lines)
        messages.diagram.nodes.update(diagram.nodes)
        messages.diagram.foreign.update(diagram.foreign)
        _take(messages, lines, part, problems, context.path)
        return messages.diagram
    _draw(lines, part, diagram, problems, context.path, c4=c4)
    return diagram


def _take(reader: Messages | Components, lines: BlockLines, part: Part, problems: list[Problem], path: str) -> None:
    for start, end in statements(lines.text, part):
        statement = lines.text[start:end].strip()
        # `order --> stock`: a name that is also a keyword.
        silent = _SILENT.match(statement) and not _ARROW_NEXT.match(statement)
        if not silent and not reader.take(start, end):
            problems.append(Problem(path, lines.line(start), f"cannot read {statement[:40]!r}"))
        elif silent and statement.startswith("}"):
            reader.take(start, end)


def _draw(lines: BlockLines, part: Part, diagram: Diagram, problems: list[Problem], path: str, *, c4: bool) -> None:
    """Component and C4 statements, which may be mixed in one diagram."""
    components = Components(diagram, lines)
    if not c4:
        _take(components, lines, part, problems, path)
        return
    macros = C4(diagram, lines, "plantuml.c4")
    done = part.start
    for start, end in statements(lines.text, part):
        if start < done:
            continue
        position = start
        while position < end and lines.text[position].isspace():
            position += 1
        call = parse_call(lines.text, position, part.end)
        if call is not None:
            if call.name == "Boundary_End":
                macros.close()
            elif not macros.take(call) and call.opens:
                macros.stack.append(macros.stack[-1] if macros.stack else "")
            done = call.end
            if "}" in lines.text[call.end : end]:
                macros.close()
            continue
        statement = lines.text[position:end].strip()
        if statement.startswith("}"):
            macros.close()
        elif statement != "{" and not _SILENT.match(statement):
            components.stack = [name for name in macros.stack if name]
            components.take(start, end)


def _includes(body: str, context: ReadContext) -> list[str]:
    """Texts of local files that a diagram includes, the included ones' includes too; the standard library and URLs are left out."""
    found: list[str] = []
    seen: set[str] = set()
    waiting = [(body, context.path)]
    while waiting and len(seen) < _MAX_INCLUDES:
        text, path = waiting.pop()
        for line in text.split("\n"):
            match = _INCLUDE.match(line.strip())
            if match is None:
                continue
            # `file!2` is the second diagram of a file.
            target = beside(path, match.group(1).split("!")[0])
            if target is None or target in seen:
                continue
            seen.add(target)
            content = context.read_file(target)
            if content is not None:
                found.append(content)
                waiting.append((content, target))
    return found


def accepts(text: SourceText) -> bool:
    """PlantUML's suffixes, or a text file that begins a diagram."""
    return text.suffix in _SUFFIXES or (text.suffix == ".txt" and text.text.lstrip().startswith("@startuml"))


def read(text: SourceText, context: ReadContext) -> Reading:
    """All diagrams of the file."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("plantuml", accepts, read)
