"""PlantUML sequence diagrams: participants, messages, returns, groups."""

from __future__ import annotations

import re
from typing import Final

from designed.block_lines import BlockLines
from designed.drawing import Diagram
from designed.kinds import Role
from designed.readers._plantuml_text import clean, first_line
from designed.readers._sequence import Sequence

_NAME: Final = r"\"[^\"]*\"|[^\s\":<>#]+"
_PARTICIPANT: Final = re.compile(
    rf"(?:create\s+)?(?P<kind>participant|actor|boundary|control|entity|database|collections|queue)\s+(?P<first>{_NAME})(?:\s+as\s+(?P<second>{_NAME}))?"
    r"(?P<tail>.*)$"
)
_MESSAGE: Final = re.compile(
    rf"(?P<a>{_NAME}|\[|\?)\s*(?P<arrow>[<xo]*(?:<<?|//?|\\\\?)?(?:-+|\.+)(?:\[[^\]]*\])?(?:-*|\.*)(?:>>?|\\\\?|//?)?[xo]?)\s*(?P<b>{_NAME}|\]|\?)"
    r"\s*(?:\+\+|--|\*\*|!!)*(?:\s*#\w+)?\s*(?::(?P<text>.*))?$"
)
_BLOCK: Final = re.compile(r"(alt|opt|loop|par2?|critical|break|group|box|partition)\b\s*(.*)$")
_BRANCH: Final = re.compile(r"(else|also)\b\s*(.*)$")


class Messages:
    """Statements of a sequence diagram put into a `Diagram`."""

    def __init__(self, lines: BlockLines, rule: str = "plantuml.sequence") -> None:
        self.lines = lines
        self.sequence = Sequence(rule)
        self._boxes: list[str] = []

    @property
    def diagram(self) -> Diagram:
        """What was read so far."""
        return self.sequence.diagram

    def take(self, start: int, end: int) -> bool:
        """Use a statement; false where it says nothing that is known here."""
        statement = self.lines.text[start:end].strip()
        place = self.lines.place(start, end)
        if re.match(r"end(?:\s+\w+)?$", statement):
            if self.sequence.blocks:
                kind, _ = self.sequence.blocks.pop()
                if kind == "box" and self._boxes:
                    self._boxes.pop()
            return True
        found = _PARTICIPANT.match(statement)
        if found and not re.match(r"\s*(?:-|<|\.\.)", found.group("tail")):
            first, second = found.group("first"), found.group("second") or ""
            if second.startswith('"'):
                first, second = second, first
            hint = {"actor": Role.CLIENT, "database": Role.STORE, "queue": Role.TOPIC}.get(found.group("kind"))
            label = first_line(first)
            self.sequence.participant(second.strip('"') or clean(first), label, place, hint, tuple(self._boxes[::-1]))
            return True
        message = _MESSAGE.match(statement)
        if message and re.search(r"[-.]", message.group("arrow")):
            a, b, arrow = clean(message.group("a")), clean(message.group("b")), message.group("arrow")
            if {a, b} & {"[", "]", "?"}:
                return True
            forward = bool(re.search(r"[>\\/]+[xo]?$", arrow))
            back = arrow.startswith(("<", "/", "\\"))
            dashed = "--" in arrow or "." in arrow
            text = clean(message.group("text") or "")
            asynchronous = ">>" in arrow or "<<" in arrow or arrow.endswith(("\\", "/"))
            pairs = [(a, b)] if forward or not back else []
            pairs += [(b, a)] if back else []
            for source, target in pairs:
                self.sequence.message(source, target, text, place, dashed=dashed, asynchronous=asynchronous)
            return True
        block = _BLOCK.match(statement)
        if block:
            kind, words = block.groups()
            self.sequence.blocks.append((kind, clean(words)))
            if kind == "box":
                title = clean(re.sub(r"#\w+\s*$", "", words))
                self._boxes.append(title)
                self.diagram.groups[title] = title
            return True
        branch = _BRANCH.match(statement)
        if branch:
            if self.sequence.blocks:
                self.sequence.blocks[-1] = (self.sequence.blocks[-1][0], clean(branch.group(2)))
            return True
        return False
