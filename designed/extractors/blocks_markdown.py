"""Markdown (CommonMark with tables and front matter) as blocks with their places. Pure.

The shapes that most of a document has (headings, plain paragraphs, fences, flat lists, plain tables) are read line by line. Stretches with
anything else go to `markdown-it-py`, which keeps line maps; both give the same blocks (a property test), the first in a tenth of the time.
"""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from designed.extractors.blocks import Block, Document, cells
from designed.place import Lines

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_MARKER = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]+")
_QUOTE = re.compile(r"[ \t>]*")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
# Beginnings of lines that are more than text, or may be.
_ATX = re.compile(r"#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r"([*_-])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM = re.compile(r"(?:([-*+])|\d{1,9}([.)]))[ ]{1,4}(?=[^\s#>+~<|\d*_=-]|[*_]{1,2}[^\s*_]|\d+(?![\d.)]))")
_LIST = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)$")
_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
# Diagrams in the brackets of Hugo, Jekyll, wikis and HTML: the line before, and what ends them.
_WRAPPED = re.compile(
    r" {0,3}(?:(?P<hugo>\{\{[<%])\s*(?P<a>mermaid|plantuml|graphviz)\b[^}]*\}\}|(?P<liquid>\{%)\s*(?P<b>mermaid|plantuml|graphviz)\b[^}]*%\}"
    r"|(?P<colons>:::)\s*(?P<c>mermaid|plantuml)|<(?P<tag>div|pre)\s[^>]*class=[\"'][^\"']*\b(?P<d>mermaid)\b[^>]*>)\s*$",
    re.IGNORECASE,
)
_WRAPPED_END = {
    "hugo": r"\{{\{{[<%]\s*/\s*{0}\s*[>%]\}}\}}",
    "liquid": r"\{{%\s*end{0}\s*%\}}",
    "colons": r":::",
    "tag": r"</(?:div|pre)>",
}
# Where an HTML block of several paragraphs ends.
_RAW = (
    ("<!--", "-->"),
    ("<?", "?>"),
    ("<![CDATA[", "]]>"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<!", ">"),
)


def parse(text: str, skeleton: str | None = None) -> Document:
    """Any text is Markdown; none raises. `skeleton` is the text as far as it is Markdown, line by line, where not all of it is."""
    front = _FRONT_MATTER.match(text)
    body = text if skeleton is None else skeleton
    if front is not None:
        body = "\n" * text.count("\n", 0, front.end()) + body[front.end() :]
    lines = Lines(text)
    blocks = tuple(_Scanner(lines, body).blocks())
    return Document(text, lines, blocks, front[1] if front else "", front.start(1) if front else 0)


class _Scanner:
    """Reads lines from the top; each method takes a line number and gives the number of the line to go on with, or None where it cannot."""

    def __init__(self, lines: Lines, body: str) -> None:
        self._lines = lines
        self._body = re.split(r"\r\n|[\r\n]", body) if "\r" in body else body.split("\n")
        self._found: list[Block] = []

    def blocks(self) -> list[Block]:
        """All blocks, in order."""
        body, at = self._body, 0
        while at < len(body):
            line = body[at]
            if not line or line.isspace():
                at += 1
                continue
            step = self._simple(at, line)
            at = self._hard(at) if step is None else step
        return self._found

    def _simple(self, at: int, line: str) -> int | None:
        first = line[0]
        if first in " {:<" and (wrapped := self._wrapped(at, line)) is not None:
            return wrapped
        if first == "#" and _ATX.match(line):
            self._found.append(_heading(self._lines, at, len(line) - len(line.lstrip("#"))))
            return at + 1
        if first in "`~" and line.startswith(("```", "~~~")):
            return self._fence(at, line)
        if first in "-*_" and _RULE.match(line):
            return at + 1
        if _LIST.match(line):
            return self._list(at)
        if first in " \t<>=\\" or (first == "[" and "]:" in line) or "\x00" in line:
            return None
        return self._table(at) if "|" in line else self._paragraph(at)

    def _paragraph(self, at: int) -> int | None:
        body, end = self._body, at + 1
        while end < len(body) and (line := body[end]) and not line.isspace():
            if _ends_paragraph(line):
                break
            start = line.lstrip(" \t")[0]
            if "|" in line or not (
                start.isalpha()
                or start in "\"'(`*_[{/.,:;!?@$&%^"
                or (start.isdecimal() and not _LIST.match(line.lstrip(" \t")))
            ):
                return None
            if start in "`*_" and (
                line.lstrip().startswith("```") or _RULE.match(line.lstrip()) or _LIST.match(line.lstrip())
            ):
                return None
            end += 1
        start, stop = self._lines.start(at + 1), self._lines.start(end + 1)
        self._found.append(Block("text", start, stop))
        return end

    def _fence(self, at: int, line: str) -> int | None:
        opened = _FENCE.match(line) if line[0] == "`" else re.match(r"(~{3,})(.*)$", line)
        if opened is None:
            return None
        close = re.compile(rf" {{0,3}}{re.escape(opened[1][0])}{{{len(opened[1])},}}[ \t]*$")
        end = next((n for n in range(at + 1, len(self._body)) if close.match(self._body[n])), None)
        if end is None:
            return None
        info = opened[2].strip()
        language = info.split(None, 1)[0].strip("{}.") if info else ""
        self._found.append(Block("fence", self._lines.start(at + 2), self._lines.start(end + 1), language=language))
        return end + 1

    def _wrapped(self, at: int, line: str) -> int | None:
        """A diagram between the brackets of another markup: a fence of that language."""
        opened = _WRAPPED.match(line)
        if opened is None:
            return None
        language = next(opened[name] for name in "abcd" if opened[name]).casefold()
        kind = next(name for name in _WRAPPED_END if opened[name])
        close = re.compile(r"\s*" + _WRAPPED_END[kind].format(language) + r"\s*$", re.IGNORECASE)
        end = next((n for n in range(at + 1, len(self._body)) if close.match(self._body[n])), None)
        if end is None:
            return None
        self._found.append(Block("fence", self._lines.start(at + 2), self._lines.start(end + 1), language=language))
        return end + 1

    def _list(self, at: int) -> int | None:
        """A flat list of one-line items, which nothing below goes on with."""
        body, end = self._body, at
        mark = None
        starts = []
        while (
            end < len(body)
            and (item := _ITEM.match(body[end])) is not None
            and not _RULE.match(body[end])
            and "]:" not in body[end]
        ):
            mark = mark or (item[1] or item[2])
            if (item[1] or item[2]) != mark or "\x00" in body[end]:
                return None
            starts.append((end, item.end()))
            end += 1
        following = end
        while following < len(body) and (not body[following] or body[following].isspace()):
            following += 1
        if not starts or (following == end < len(body)) or (following < len(body) and body[following][0] in " \t"):
            return None
        for number, _ in starts:
            start, stop = self._lines.start(number + 1), self._lines.start(number + 2)
            lead = _MARKER.match(self._lines.text, start, stop)
            self._found.append(Block("text", lead.end() if lead else start, stop, 1, item=True))
        return end

    def _table(self, at: int) -> int | None:
        body = self._body
        if (
            at + 1 >= len(body)
            or _DELIMITER.match(body[at + 1]) is None
            or "|" not in body[at + 1]
            or _bars(body[at]) != _bars(body[at + 1])
        ):
            return None
        end = at + 2
        while end < len(body) and body[end].startswith("|"):
            end += 1
        if end < len(body) and body[end] and not body[end].isspace():
            return None
        self._found.append(_table_block(self._lines, at, end, ()))
        return end

    def _hard(self, at: int) -> int:
        """A stretch for the library: up to a line that can only begin something new at the top."""
        body, line = self._body, self._body[at]
        end = at + 1
        raw = next((close for mark, close in _RAW if line.lstrip(" ")[: len(mark)].casefold() == mark.casefold()), None)
        if raw is not None:
            while end < len(body) and raw not in body[end - 1].casefold():
                end += 1
        if line.startswith(("```", "~~~")):
            # Never closed: all that follows is in it.
            end = len(body)
        contained = _LIST.match(line) is not None or line[0] == ">"
        markup = line.lstrip().startswith("<")
        while end < len(body):
            current = body[end]
            if current and not current.isspace():
                fresh = not body[end - 1] or body[end - 1].isspace()
                if current[0] == "#" and _ATX.match(current) and ((contained and not markup) or fresh):
                    break
                markup = current.lstrip(" \t-*+>").startswith("<") or (markup and not fresh)
                if fresh and (current[0].isalpha() or (contained and current.startswith(("```", "~~~")))):
                    break
                if re.match(r" {0,3}(?:```|~~~)", current) and not (contained and current[0] == " "):
                    # A fence at the top may hold anything: the rest is the library's.
                    end = len(body)
                    break
                if any(current.lstrip(" ")[: len(mark)].casefold() == mark.casefold() for mark, _ in _RAW[:-1]):
                    end = len(body)
                    break
                if _LIST.match(current) and fresh:
                    contained = True
            end += 1
        self._found += _library(self._lines, body, at, end)
        return end


def _ends_paragraph(line: str) -> bool:
    """What may begin right below a paragraph, whatever that says: a heading, a fence, a list of bullets or from 1."""
    if line[0] == "#":
        return _ATX.match(line) is not None
    if line[0] in "{:<":
        return _WRAPPED.match(line) is not None
    if line.startswith(("```", "~~~")):
        return line[0] == "~" or _FENCE.match(line) is not None
    item = _ITEM.match(line)
    return item is not None and (item[1] is not None or item[0].rstrip(" .)") == "1") and not _RULE.match(line)


def _bars(line: str) -> int:
    """Cells of a row as CommonMark's tables count them: bars that no backslash hides."""
    bare = line.strip()
    return (
        len(
            re.findall(
                r"(?<!\\)\|",
                bare[
                    1 if bare.startswith("|") else 0 : -1 if bare.endswith("|") and not bare.endswith("\\|") else None
                ],
            )
        )
        + 1
    )


def _heading(lines: Lines, at: int, level: int) -> Block:
    """A heading in the line `at` (of a setext heading its first)."""
    start, end = lines.start(at + 1), lines.start(at + 2)
    lead = _HEADING.match(lines.text, start, end)
    begin = lead.end() if lead else start
    stop = lines.text.find("\n", begin, end)
    stop = end if stop < 0 else stop
    closing = _CLOSING.search(lines.text, begin, stop)
    return Block("heading", begin, closing.start() if closing else stop, level)


def _table_block(lines: Lines, first: int, last: int, parents: tuple[Block, ...]) -> Block:
    """A table of the lines [first, last), the second of which only tells the columns."""
    rows = []
    for number in range(first, last):
        if number != first + 1:
            start = lines.start(number + 1)
            end = lines.text.find("\n", start)
            rows.append(cells(lines.text, start, len(lines.text) if end < 0 else end))
    return Block("table", lines.start(first + 1), lines.start(last + 1), parents=parents, rows=tuple(rows))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _library(lines: Lines, body: list[str], first: int, last: int) -> list[Block]:
    """Blocks of the lines [first, last) by the library."""
    blocks: list[Block] = []
    items: list[Block | None] = []
    quotes = 0
    level = 0
    # `>` and list markers decide nesting; the parser's own limit keeps pathological nesting linear.
    for token in _parser().parse("\n".join(body[first:last]) + "\n"):
        kind = token.type
        if kind == "list_item_open":
            items.append(None)
        elif kind == "list_item_close":
            items.pop()
        elif kind == "blockquote_open":
            quotes += 1
        elif kind == "blockquote_close":
            quotes -= 1
        elif kind == "heading_open":
            level = int(token.tag[1:])
        elif token.map is not None:
            parents = tuple(item for item in items if item is not None)
            start, end = token.map[0] + first, token.map[1] + first
            if kind == "inline" and level:
                blocks.append(_heading(lines, start, level))
                level = 0
            elif kind == "inline" and not (
                blocks and blocks[-1].kind == "table" and blocks[-1].start <= lines.start(start + 1) < blocks[-1].end
            ):
                _text(lines, (start, end), blocks, items, quotes)
            elif kind in ("fence", "code_block"):
                blocks.append(_fence(token, lines, first, parents))
            elif kind == "table_open":
                blocks.append(_table_block(lines, start, end, parents))
    return blocks


def _text(lines: Lines, span: tuple[int, int], blocks: list[Block], items: list[Block | None], quotes: int) -> None:
    start, end = lines.start(span[0] + 1), lines.start(span[1] + 1)
    lead = (_MARKER if items else _QUOTE).match(lines.text, start, end)
    first = bool(items) and items[-1] is None
    block = Block(
        "text",
        lead.end() if lead else start,
        end,
        len(items),
        first,
        quotes > 0,
        tuple(item for item in items if item is not None),
    )
    if first:
        items[-1] = block
    blocks.append(block)


def _fence(token: Token, lines: Lines, offset: int, parents: tuple[Block, ...]) -> Block:
    assert token.map is not None
    fenced = token.type == "fence"
    first, last = token.map[0] + offset + (1 if fenced else 0), token.map[1] + offset
    start, end = lines.start(first + 1), lines.start(last + 1)
    if fenced:
        end = lines.start(first + 1 + token.content.count("\n"))
    line = lines.text[start : lines.text.find("\n", start)]
    content = token.content.split("\n", 1)[0]
    indent = max(0, len(line) - len(content)) if content and line.endswith(content) else 0
    language = token.info.strip().split(None, 1)[0].strip("{}.") if token.info.strip() else ""
    return Block("fence", start, min(end, len(lines.text)), parents=parents, language=language, indent=indent)
