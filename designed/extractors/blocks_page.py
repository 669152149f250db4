"""Text that was laid out as pages (PDF): headings, items and paragraphs, told by shape alone. Pure.

The text is lines as they were printed, each page under `# Page N`. A heading has no mark: it is short, ends no sentence, and stands after
one that ended. A paragraph ends where a sentence does in a line that leaves room.
"""

from __future__ import annotations

import re

from designed.extractors.blocks import Block, Document
from designed.extractors.flat import PLAIN
from designed.extractors.lexicon_en import DETERMINERS, PREPOSITIONS, VERBS
from designed.extractors.outline import Outline

_PAGE = re.compile(r"# Page \d+$")
_BULLET = re.compile(r"[ \t]*(?:[•●▪◦○■□‣⁃∙·*]|[-–](?=[ \t])|\(?\d{1,2}\)|[①-⑳])[ \t]*(?=\S)")
_NUMBERED = re.compile(r"[ \t]*(\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]+(?=[A-Z가-힣])")
_ENDS = re.compile(r"[.!?。:;][\"')\]]*[ \t]*$|[다요음함]\.?[ \t]*$")
_PARTICLE = re.compile(r"[가-힣](?:은|는|이|가|을|를|에|에서|로|와|과|및)$")
_OPEN = DETERMINERS | PREPOSITIONS | {"and", "or", "but", "via"}
HEADING_CHARACTERS = 60
# A line of less than this share of the widest leaves room for another word.
_ROOM = 0.8


def parse_pages(text: str) -> Document:
    """Any text; none raises."""
    out = Outline(text, PLAIN)
    lines = out.lines
    width = sorted(len(line.rstrip()) for line in lines if line.strip())[-1:] or [0]
    item: Block | None = None
    ended = True
    at = 0
    while at < len(lines):
        line = lines[at].rstrip()
        if not line or _PAGE.match(line):
            ended, item = True, None
            at += 1
            continue
        numbered, bullet = _NUMBERED.match(line), _BULLET.match(line)
        short = (
            len(line) <= HEADING_CHARACTERS and not _ENDS.search(line) and len(line.split()) <= 8 and not _clause(line)
        )
        following = lines[at + 1].strip() if at + 1 < len(lines) else ""
        if (
            short
            and not bullet
            and (
                numbered or (ended and following and not following[0].islower() and re.match(r"[ \t]*[A-Z가-힣]", line))
            )
        ):
            out.heading(at, 1 + numbered[1].count(".") + 1 if numbered else 2, out.indent(at))
            ended, item = True, None
            at += 1
            continue
        end = at + 1
        while end < len(lines) and _goes_on(lines[end - 1].rstrip(), lines[end].rstrip(), width[0]):
            end += 1
        if bullet:
            item = out.paragraph(at, end, bullet.end(), item=True)
        else:
            out.paragraph(at, end, out.indent(at), (item,) if item is not None and out.indent(at) else ())
        ended = _ENDS.search(lines[end - 1].rstrip()) is not None
        at = end
    return out.document()


def _clause(line: str) -> bool:
    """Whether a line breaks off inside a clause: it holds a verb, or ends with a word that wants another."""
    words = line.casefold().split()
    return (
        words[-1] in _OPEN
        or any(word in VERBS and VERBS[word][1] == "s" for word in words[1:])
        or _PARTICLE.search(line) is not None
    )


def _goes_on(line: str, following: str, width: int) -> bool:
    """Whether the next line belongs to the paragraph of this one."""
    if not following or _PAGE.match(following) or _BULLET.match(following) or _NUMBERED.match(following):
        return False
    return not (_ENDS.search(line) and len(line) < width * _ROOM)
