"""PlantUML text: diagrams of a file, comments and blocks that draw nothing, statements with their offsets. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from designed.kinds import first_name
from designed.labels import Label, read_label

_START: Final = re.compile(r"^[ \t]*@startuml\b[^\n]*", re.MULTILINE)
_END: Final = re.compile(r"^[ \t]*@enduml\b", re.MULTILINE)
# Blocks with lines of free text: (first line, last line).
_BLOCKS: Final[tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]] = (
    (
        re.compile(r"(?:skinparam\s+\w+|sprite\s+\S+.*|json\s+\S+|style)\s*\{\s*$|skinparam\s*\{\s*$"),
        re.compile(r"\}\s*$"),
    ),
    (re.compile(r"<style>", re.IGNORECASE), re.compile(r"</style>", re.IGNORECASE)),
    (
        re.compile(r"[hr]?note\b(?!.*:)(?!.*\bas\b\s*\w+\s*$.*\")[^\"]*$", re.IGNORECASE),
        re.compile(r"end\s*[hr]?note\b", re.IGNORECASE),
    ),
    (re.compile(r"(?:legend)\b", re.IGNORECASE), re.compile(r"end\s*legend\b", re.IGNORECASE)),
    (
        re.compile(r"(?:title|header|footer|caption)\s*$", re.IGNORECASE),
        re.compile(r"end\s*(?:title|header|footer|caption)\b", re.IGNORECASE),
    ),
    (re.compile(r"ref\s+over\s+[^:]*$", re.IGNORECASE), re.compile(r"end\s*ref\b", re.IGNORECASE)),
    (re.compile(r"!(?:unquoted\s+)?(?:procedure|function)\b"), re.compile(r"!end(?:procedure|function)\b")),
    (re.compile(r"!definelong\b"), re.compile(r"!enddefinelong\b")),
)


@dataclass(frozen=True, slots=True)
class Part:
    """One diagram of a file: offsets of its body."""

    start: int
    end: int
    closed: bool = True


def parts(text: str) -> list[Part]:
    """The diagrams; a text without @startuml is one diagram."""
    marks = sorted(
        [(m.start(), m.end(), True) for m in _START.finditer(text)]
        + [(m.start(), m.end(), False) for m in _END.finditer(text)]
    )
    found: list[Part] = []
    begin: int | None = None
    for start, end, opens in marks:
        if opens:
            if begin is not None:
                found.append(Part(begin, start, closed=False))
            begin = end
        elif begin is not None:
            found.append(Part(begin, start))
            begin = None
    if begin is not None:
        found.append(Part(begin, len(text), closed=False))
    return found or [Part(0, len(text))]


def statements(text: str, part: Part) -> Iterator[tuple[int, int]]:
    """Offsets of lines that may draw something; comments and blocks of free text are left out."""
    position, until, comment = part.start, None, False
    while position < part.end:
        end = text.find("\n", position, part.end)
        end = part.end if end < 0 else end
        start, line = position, text[position:end].strip()
        position = end + 1
        if comment:
            comment = "'/" not in line
            continue
        if until is not None:
            if until.match(line):
                until = None
            continue
        if not line or line.startswith("'"):
            continue
        if line.startswith("/'"):
            comment = "'/" not in line[2:]
            continue
        opened = next((last for first, last in _BLOCKS if first.match(line)), None)
        if opened is not None:
            until = opened
            continue
        yield start, end


def clean(text: str) -> str:
    """A name or label without creole markup; line breaks become blanks."""
    text = re.sub(r"\\[nlrt]|<br\s*/?>", " ", text.strip().strip('"'))
    text = re.sub(r"</?[a-zA-Z][^<>]*>|<\$[^>]*>|<&[^>]*>|<:[^>]*:>", "", text)
    text = re.sub(r"(\*\*|//|__|\"\")(.+?)\1", r"\2", text)
    return " ".join(text.split())


def first_line(text: str) -> str:
    """The name part of a label: up to the first break, plus lines in brackets."""
    lines = [clean(item) for item in re.split(r"\\[nlr]|<br\s*/?>|\n", text.strip().strip('"'))]
    return first_name([item for item in lines if item and not re.fullmatch(r"[-=._]{2,}", item)])


def label_of(text: str) -> Label:
    """An arrow's label without the marks of direction that PlantUML allows in it."""
    return read_label(re.sub(r"^\s*[<>]\s|\s[<>]\s*$", " ", clean(text)))
