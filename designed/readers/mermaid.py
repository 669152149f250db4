"""Mermaid: flowchart, sequence, C4 and architecture diagrams, in `.mmd` files and in fences.

Own parser with lines and columns, for no library gives positions; the official package is the oracle of a test. Diagram types
that show no dependencies (class, ER, state, gantt, pie, git graph, mind map, ...) give an empty reading.
"""

from __future__ import annotations

import re
from typing import Final

from designed.block_lines import BlockLines
from designed.chart_kind import mark
from designed.drawing import Diagram
from designed.reader import Format, ReadContext, Reader, Reading
from designed.readers._c4 import C4, parse_call
from designed.readers._mermaid_architecture import read_architecture
from designed.readers._mermaid_flowchart import read_flowchart
from designed.readers._mermaid_sequence import read_sequence
from nexus.model.document import Problem, SourceText

_HEADER: Final = re.compile(
    r"(?P<flow>flowchart(?:-elk)?|graph)\b[ \t]*(?:TB|TD|BT|RL|LR|[<>^v])?[ \t]*;?|(?P<sequence>sequenceDiagram)\b"
    r"|(?P<c4>C4(?:Context|Container|Component|Dynamic|Deployment))\b|(?P<architecture>architecture(?:-beta)?)\b"
    r"|(?P<other>classDiagram|stateDiagram|erDiagram|gantt|pie|gitGraph|mindmap|journey|timeline|quadrantChart|requirementDiagram|sankey|xychart|block|packet|kanban|radar|treemap|zenuml|info)\b"
)
_FRONT: Final = re.compile(r"\s*---[ \t]*\n.*?\n[ \t]*---[ \t]*(?:\n|$)", re.DOTALL)
_DIRECTIVE: Final = re.compile(r"\s*%%\{.*?\}%%", re.DOTALL)
_COMMENT: Final = re.compile(r"\s*%%[^\n]*(?:\n|$)")


def _header(text: str) -> re.Match[str] | None:
    """The diagram's type, after front matter, directives and comments."""
    position = 0
    front = _FRONT.match(text)
    if front:
        position = front.end()
    while True:
        skipped = _DIRECTIVE.match(text, position) or _COMMENT.match(text, position)
        if skipped is None or skipped.end() == position:
            break
        position = skipped.end()
    while position < len(text) and text[position].isspace():
        position += 1
    return _HEADER.match(text, position)


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """One diagram: the body of a fence whose first line is `first_line` of its document, or a whole `.mmd` file."""
    path = context.path if context else ""
    lines = BlockLines(body, first_line, column_offset)
    header = _header(body)
    if header is None:
        blank = not body.strip()
        return Reading(
            problems=() if blank else (Problem(path, first_line, "no Mermaid diagram type in the first line"),)
        )
    if header.group("flow"):
        diagram, problems = read_flowchart(lines, header.end(), path)
    elif header.group("sequence"):
        diagram, problems = read_sequence(lines, header.end(), path)
        mark(diagram)
    elif header.group("architecture"):
        diagram, problems = read_architecture(lines, header.end(), path)
    elif header.group("c4"):
        diagram, problems = _read_c4(lines, header.end(), path)
    else:
        return Reading()
    return Reading(diagram.claims(), diagram.entities(), problems=tuple(problems))


def _read_c4(lines: BlockLines, start: int, path: str) -> tuple[Diagram, list[Problem]]:
    diagram, problems = Diagram(), []
    c4 = C4(diagram, lines, "mermaid.c4")
    text, position = lines.text, start
    while position < len(text):
        char = text[position]
        if char.isspace() or char == "{":
            position += 1
        elif char == "}":
            c4.close()
            position += 1
        elif (call := parse_call(text, position, len(text))) is not None:
            c4.take(call)
            position = call.end
        else:
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            line = text[position:end].strip()
            if not re.match(r"(?:title|accTitle|accDescr|%%|direction|UpdateLayout)\b|%%", line):
                problems.append(Problem(path, lines.line(position), f"cannot read {line[:40]!r}"))
            position = end
    return diagram, problems


def accepts(text: SourceText) -> bool:
    """Files named .mmd or .mermaid."""
    return text.suffix in (".mmd", ".mermaid")


def read(text: SourceText, context: ReadContext) -> Reading:
    """The whole file is one diagram."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("mermaid", accepts, read)
