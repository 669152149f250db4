"""HTML to Markdown-like text, each piece on the line on which it stands in the file, so that a citation's lines are the source's.

A block that begins on the line on which another ended gets a line of its own, in a page without line breaks (an export, a minified build) every block,
and a listing of several lines one around it where it has none: then the lines are those of the text that is shown.
Headings, list items, tables and `pre` blocks (also Mermaid ones) keep their marks. Scripts, styles, navigation and comments
are left out, as is what is hidden: text that nobody sees must not be found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser

from knowledge.sections import Syntax
from knowledge.texts._shape import Extracted, TextReader, decoded
from nexus.model.document import Tier

_SKIP = frozenset({"script", "style", "noscript", "template", "svg", "nav", "head", "iframe", "object"})
_BREAK = frozenset(
    {"p", "div", "br", "li", "tr", "ul", "ol", "table", "section", "article", "blockquote", "dt", "dd", "pre"}
)
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "col", "area", "base", "source", "track", "wbr", "embed"}
)
# A line with more blocks than this was not broken by hand.
_CROWDED = 8
_BLOCKS = "h[1-6]|p|li|tr|table|ul|ol|pre|div|section|dt|dd|blockquote"
_BLOCK = re.compile(rf"<(?:{_BLOCKS})\b[^<>]*>|</(?:pre|table)>", re.IGNORECASE)
# The end of a block with the beginning of the next, not a hidden one, behind it; and a heading with text behind it.
_ADJACENT = re.compile(
    rf"(</(?:{_BLOCKS})>)[ \t]*(?=<(?:{_BLOCKS})\b(?![^<>]*(?:hidden|display)))|(</h[1-6]>)[ \t]*(?=[^\s<])",
    re.IGNORECASE,
)
_PRE = re.compile(r"<pre\b[^<>]*>(?:\s*<code\b[^<>]*>)?", re.IGNORECASE)
_LISTS = frozenset({"ul", "ol"})
_HEADINGS = {f"h{depth}": depth for depth in range(1, 7)}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class _Text(HTMLParser):
    """Collects pieces by line."""

    def __init__(self, lines: int) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[list[str]] = [[] for _ in range(lines + 1)]
        self.title = ""
        self._skip: list[str] = []
        self._in_title = False
        self._pre = 0
        self._lists = 0

    def _put(self, piece: str, line: int | None = None) -> None:
        at = (self.getpos()[0] if line is None else line) - 1
        self.lines[min(at, len(self.lines) - 1)].append(piece)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "title":
            self._in_title = True
        if self._skip:
            if tag not in _VOID:
                self._skip.append(tag)
            return
        hidden = "hidden" in values or _HIDDEN.search(values.get("style") or "") is not None
        if tag in _SKIP or (hidden and tag not in _VOID):
            self._skip.append(tag)
            return
        if tag in _HEADINGS:
            self._put("#" * _HEADINGS[tag] + " ")
        elif tag in _LISTS:
            self._lists += 1
        elif tag == "li":
            self._put("\x01" * max(self._lists, 1) + "- ")
        elif tag in {"td", "th"}:
            self._put("| ")
        elif tag == "pre":
            self._pre += 1
            self._put(f"```{_language(values)}\0")
        elif tag == "code" and self._pre:
            self._named(_language(values))
        elif tag == "code":
            self._put("`")

    def _named(self, language: str) -> None:
        """`<pre><code class="language-x">`: the mark that `pre` left gets its language."""
        pieces = self.lines[min(self.getpos()[0], len(self.lines)) - 1]
        if language and pieces and pieces[-1] == "```\0":
            pieces[-1] = f"```{language}\0"

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._skip:
            if tag in self._skip:
                while self._skip.pop() != tag:
                    pass
            return
        if tag == "pre" and self._pre:
            self._pre -= 1
            self._put("\0```")
        elif tag == "code" and not self._pre:
            self._put("`")
        elif tag == "tr":
            self._put("|")
        elif tag in _LISTS:
            self._lists = max(0, self._lists - 1)
            self._put(" ")
        elif tag in _BREAK:
            self._put(" ")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        if self._skip:
            return
        line = self.getpos()[0]
        for offset, piece in enumerate(data.split("\n")):
            self._put(piece if self._pre else re.sub(r"[ \t\xa0]+", " ", piece), line + offset)


def _read(data: bytes) -> Extracted:
    read = decoded(data)
    source = read.text
    if any(len(_BLOCK.findall(line)) > _CROWDED for line in source.split("\n")):
        source = _BLOCK.sub(lambda match: f"\n{match[0]}", source)
    source = _listings_apart(_ADJACENT.sub(lambda match: f"{match[0].rstrip()}\n", source))
    parser = _Text(source.count("\n") + 1)
    parser.feed(source)
    parser.close()
    out: list[str] = []
    for pieces in parser.lines[: source.count("\n") + 1]:
        line = "".join(pieces)
        # A fence's mark has a line of its own only where the source leaves it one; a `\0` says where it would end.
        line = re.sub(r"^\s*(```\w*)\0\s*$", r"\1", line)
        line = re.sub(r"^\s*\0(```)\s*$", r"\1", line)
        line = re.sub(r"^\s*(\x01+)- ", lambda match: "  " * (len(match[1]) - 1) + "- ", line)
        out.append(re.sub(r"```\w*\0|\0```|\x01", "", line).rstrip())
    text = _balanced(out)
    return Extracted("\n".join(text), " ".join(parser.title.split()), read.problems)


def _listings_apart(source: str) -> str:
    """With the text of each listing of several lines on lines of its own."""
    pieces, position = [], 0
    for match in _PRE.finditer(source):
        end = source.find("</pre", match.end())
        if end < 0:
            break
        text = source[match.end() : end].removesuffix("</code>")
        if match.start() < position or "\n" not in text.strip():
            continue
        apart = text if text.lstrip(" ").startswith("\n") else f"\n{text}"
        pieces += [source[position : match.end()], apart, "" if text.rstrip(" ").endswith("\n") else "\n"]
        position = match.end() + len(text)
    return "".join([*pieces, source[position:]])


def _language(values: Mapping[str, str | None]) -> str:
    """`mermaid` of class="mermaid", "language-mermaid" or "lang-mermaid"."""
    found = re.search(
        r"(?:^|\s)(?:lang(?:uage)?-(\w+)|(mermaid|plantuml|dot|graphviz))(?:\s|$)", values.get("class") or ""
    )
    return (found[1] or found[2]) if found else ""


def _balanced(lines: list[str]) -> list[str]:
    """Fences whose other half had no line of its own are dropped: the text stays, no half fence swallows the rest."""
    opened: int | None = None
    for number, line in enumerate(lines):
        if not re.fullmatch(r"```\w*", line):
            continue
        if line == "```" and opened is not None:
            opened = None
        elif opened is None:
            opened = number
        else:
            lines[opened], opened = "", number
    if opened is not None:
        lines[opened] = ""
    return [
        line if line.startswith("```") else line.lstrip() if line.lstrip().startswith("#") else line for line in lines
    ]


READER = TextReader(frozenset({".html", ".htm", ".xhtml"}), Syntax.MARKDOWN, Tier.AUTHORED, _read)
