"""The structure of a text: front matter, headings, fences, tables, paragraphs, as stretches of lines. Pure.

Formats share one scanner; what a heading looks like is all in which they differ here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a stretch of lines is. FENCE and TABLE are kept whole."""

    FRONT = "front"
    HEADING = "heading"
    FENCE = "fence"
    TABLE = "table"
    TEXT = "text"


class Syntax(StrEnum):
    """How headings are written."""

    MARKDOWN = "markdown"
    RST = "rst"
    ASCIIDOC = "asciidoc"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Block:
    """Lines [start, end), from 0. `depth` and `title` are a heading's."""

    kind: Kind
    start: int
    end: int
    depth: int = 0
    title: str = ""


_FENCE = re.compile(r" {0,3}(?:>\s?)*(`{3,}|~{3,})(.*)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*\Z")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")
_ADOC = re.compile(r"(={1,6})[ \t]+(\S.*)\Z")
_ADOC_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\|={3,}|`{3,}.*)[ \t]*\Z")
_RST_LINE = re.compile(r"([=\-`:.'\"~^_*+#])\1{2,}[ \t]*\Z")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^}]*\}\s*\Z")
# A longer heading is none; it would stand in front of every passage of its section.
MAX_HEADING = 300
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NOISE = re.compile(r"[*_`]{1,3}|<[^>]+>")
_LIST_OR_QUOTE = re.compile(r" {0,3}(?:[-*+>]|\d+[.)])(?:\s|\Z)")


def heading_text(raw: str) -> str:
    """A heading as people read it: without links, emphasis, tags and attributes."""
    return " ".join(_NOISE.sub("", _LINK.sub(r"\1", _ATTRIBUTES.sub("", raw[:MAX_HEADING]))).split())


def blocks(lines: list[str], syntax: Syntax, front_lines: int) -> list[Block]:
    """The blocks of a text in order; together they cover every line. `front_lines` lines of front matter come first.

    Blank lines belong to the block before them.
    """
    out: list[Block] = []
    if front_lines:
        out.append(Block(Kind.FRONT, 0, front_lines))
    at = front_lines
    depths: dict[str, int] = {}
    while at < len(lines):
        block = _next(lines, at, syntax, depths)
        end = block.end
        while end < len(lines) and not lines[end].strip():
            end += 1
        out.append(Block(block.kind, block.start, end, block.depth, block.title))
        at = end
    return out


def _next(lines: list[str], at: int, syntax: Syntax, depths: dict[str, int]) -> Block:
    line = lines[at]
    if syntax is Syntax.NONE:
        return _paragraph(lines, at, lambda _: False)
    fence = _fence_end(lines, at, syntax)
    if fence:
        return Block(Kind.FENCE, at, fence)
    heading = _heading(lines, at, syntax, depths)
    if heading is not None:
        return heading
    if syntax is Syntax.MARKDOWN and _table_starts(lines, at):
        end = at + 2
        while end < len(lines) and lines[end].strip() and "|" in lines[end] and not _FENCE.match(lines[end]):
            end += 1
        return Block(Kind.TABLE, at, end)
    del line
    return _paragraph(
        lines,
        at,
        lambda n: (
            bool(_fence_end(lines, n, syntax))
            or _heading(lines, n, syntax, dict(depths)) is not None
            or (syntax is Syntax.MARKDOWN and _table_starts(lines, n))
        ),
    )


def _paragraph(lines: list[str], at: int, stops: object) -> Block:
    assert callable(stops)
    end = at + 1
    while end < len(lines) and lines[end].strip() and not stops(end):
        end += 1
    return Block(Kind.TEXT, at, end)


def _table_starts(lines: list[str], at: int) -> bool:
    return (
        "|" in lines[at]
        and at + 1 < len(lines)
        and "-" in lines[at + 1]
        and "|" in lines[at + 1]
        and bool(_DELIMITER.match(lines[at + 1]))
    )


def _fence_end(lines: list[str], at: int, syntax: Syntax) -> int:
    """The line after a fence that begins at `at`; 0 where none does. A fence that is never closed ends with the text."""
    if syntax is Syntax.MARKDOWN:
        match = _FENCE.match(lines[at])
        if match is None or (match[1][0] == "`" and "`" in match[2]):
            return 0
        close = re.compile(rf" {{0,3}}(?:>\s?)*{re.escape(match[1][0])}{{{len(match[1])},}}[ \t]*\Z")
    elif syntax is Syntax.ASCIIDOC:
        match = _ADOC_FENCE.match(lines[at])
        if match is None:
            return 0
        close = re.compile(re.escape(match[1][:3] if match[1].startswith("`") else match[1]) + r"[ \t]*\Z")
    else:
        return 0
    for end in range(at + 1, len(lines)):
        if close.match(lines[end]):
            return end + 1
    return len(lines)


def _heading(lines: list[str], at: int, syntax: Syntax, depths: dict[str, int]) -> Block | None:
    line = lines[at]
    following = lines[at + 1] if at + 1 < len(lines) else ""
    if syntax is Syntax.MARKDOWN:
        match = _ATX.match(line)
        if match:
            return Block(Kind.HEADING, at, at + 1, len(match[1]), heading_text(match[2] or ""))
        under = _SETEXT.match(following)
        # A paragraph of one line; longer ones are so rare that a thematic break is the better guess.
        if (
            under
            and line.strip()
            and "|" not in line
            and not _LIST_OR_QUOTE.match(line)
            and not line.startswith("    ")
            and (at == 0 or not lines[at - 1].strip())
        ):
            return Block(Kind.HEADING, at, at + 2, 1 if under[1][0] == "=" else 2, heading_text(line))
    elif syntax is Syntax.ASCIIDOC:
        match = _ADOC.match(line)
        if match:
            return Block(Kind.HEADING, at, at + 1, len(match[1]), heading_text(match[2]))
    elif syntax is Syntax.RST:
        over = _RST_LINE.match(line)
        if (
            over
            and at + 2 < len(lines)
            and _RST_LINE.match(lines[at + 2])
            and lines[at + 2][0] == line[0]
            and following.strip()
        ):
            return Block(Kind.HEADING, at, at + 3, _depth(depths, line[0] * 2), heading_text(following))
        under = _RST_LINE.match(following)
        if (
            under
            and line.strip()
            and not line.startswith(" ")
            and len(following.rstrip()) >= len(line.rstrip()) * 0.7
            and not over
        ):
            return Block(Kind.HEADING, at, at + 2, _depth(depths, under[1]), heading_text(line))
    return None


def _depth(depths: dict[str, int], mark: str) -> int:
    """In reStructuredText the order of first use decides."""
    return depths.setdefault(mark, len(depths) + 1)
