"""Mermaid sequence diagrams. One statement a line; aliases, boxes, blocks, every arrow of the grammar."""

from __future__ import annotations

import re
from typing import Final

from designed.block_lines import BlockLines
from designed.drawing import Diagram
from designed.kinds import Role
from designed.readers._mermaid_flowchart import clean_label, link_label
from designed.readers._sequence import Sequence
from nexus.model.document import Problem

_PARTICIPANT: Final = re.compile(
    r"(?:create\s+)?(participant|actor)\s+(\S+?|\"[^\"]+\"|[^@\n]+?)(@\{[^}]*\})?(?:\s+as\s+(.+?))?\s*$"
)
_MESSAGE: Final = re.compile(
    r"^(?P<a>[^\s:#;][^:;\n]*?)\s*(?P<arrow><<-->>|<<->>|-->>|->>|--x|-x|--\)|-\)|-->|->)\s*[+-]?\s*(?P<b>[^:;\n]+?)\s*(?::(?P<text>.*))?$"
)
_BLOCK: Final = re.compile(r"(alt|opt|loop|par|critical|break|rect|box|par_over)\b\s*(.*)$")
_BRANCH: Final = re.compile(r"(else|and|option)\b\s*(.*)$")
_IGNORED: Final = re.compile(
    r"(?:note\b|activate\b|deactivate\b|autonumber\b|title\b|accTitle\b|accDescr\b|destroy\b|links?\b|properties\b|details\b|%%)",
    re.IGNORECASE,
)
_BOX_COLOUR: Final = re.compile(
    r"^(?:rgba?\([^)]*\)|transparent|#[0-9a-fA-F]{3,8}|aqua|blue|gray|green|grey|red|purple|yellow|lightblue|lightgreen)\s*",
    re.IGNORECASE,
)


def read_sequence(
    lines: BlockLines, start: int, path: str, rule: str = "mermaid.sequence"
) -> tuple[Diagram, list[Problem]]:
    """Read the lines from offset `start` (after the header)."""
    sequence, problems = Sequence(rule), []
    boxes: list[str] = []
    position = start
    text = lines.text
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        for begin, stop in _statements(text, position, end):
            if not _line(sequence, lines, begin, stop, boxes):
                problems.append(Problem(path, lines.line(begin), f"cannot read {text[begin:stop].strip()[:40]!r}"))
        position = end + 1
    return sequence.diagram, problems


def _statements(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A line is one statement, or several with semicolons ("#59;" is an entity, not an end)."""
    found, begin = [], start
    for match in re.finditer(r";(?=\s*\S)", text[start:end]):
        at = start + match.start()
        if re.search(r"#\w+$", text[begin:at]):
            continue
        found.append((begin, at))
        begin = at + 1
    found.append((begin, end))
    return found


def _line(sequence: Sequence, lines: BlockLines, start: int, end: int, boxes: list[str]) -> bool:
    raw = lines.text[start:end]
    statement = raw.strip().rstrip(";").rstrip()
    if not statement or _IGNORED.match(statement):
        return True
    place = lines.place(start, end)
    if statement == "end":
        if sequence.blocks:
            kind, _ = sequence.blocks.pop()
            if kind == "box" and boxes:
                boxes.pop()
        return True
    found = _PARTICIPANT.match(statement)
    if found:
        hint = Role.PERSON if found.group(1) == "actor" else None
        if found.group(3) and (typed := re.search(r"type\W+(\w+)", found.group(3))):
            hint = {"actor": Role.PERSON, "database": Role.STORE, "queue": Role.TOPIC}.get(typed.group(1))
        ident = found.group(2).strip().strip('"')
        # An actor of a sequence is who starts it; it counts, unlike C4's persons, which stand for people only.
        sequence.participant(
            ident,
            clean_label(found.group(4) or ident),
            place,
            Role.CLIENT if hint is Role.PERSON else hint,
            tuple(boxes[::-1]),
        )
        return True
    message = _MESSAGE.match(statement)
    if message:
        arrow = message.group("arrow")
        dashed = arrow.startswith(("--", "<<--"))
        words = link_label(message.group("text") or "")
        source, target = message.group("a").strip().strip('"'), message.group("b").strip().strip('"').split("@{")[0]
        sequence.message(source, target, words, place, dashed=dashed, asynchronous=")" in arrow)
        if arrow.startswith("<<"):
            sequence.message(target, source, words, place, dashed=False)
        return True
    block = _BLOCK.match(statement)
    if block:
        kind, words = block.group(1), block.group(2).strip()
        sequence.blocks.append((kind, words))
        if kind == "box":
            title = _BOX_COLOUR.sub("", words).strip()
            boxes.append(title)
            sequence.diagram.groups[title] = title
        return True
    branch = _BRANCH.match(statement)
    if branch:
        if sequence.blocks and branch.group(1) != "and":
            sequence.blocks[-1] = (sequence.blocks[-1][0], branch.group(2).strip())
        return True
    return False
