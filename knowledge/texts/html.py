"""HTML to Markdown-like text, each piece on the line on which it stands in the file, so that a citation's lines are the source's.

Headings, list items, tables and `pre` blocks (also Mermaid ones) keep their marks. Scripts, styles, navigation and comments
are left out, as is what is hidden: text that nobody sees must not be found.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from knowledge.sections import Syntax
from knowledge.texts._shape import Extracted, TextReader, decoded
from nexus.model.document import Tier

_SKIP = frozenset({"script", "style", "noscript", "template", "svg", "nav", "head", "iframe", "object"})
_BREAK = frozenset({"p", "div", "br", "li", "tr", "ul", "ol", "table", "section", "article", "blockquote", "dt", "dd", "pre"})
_VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "col", "area", "base", "source", "track", "wbr", "embed"})
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
        elif tag == "li":
            self._put("- ")
        elif tag in {"td", "th"}:
            self._put("| ")
        elif tag == "pre":
            self._pre += 1
            self._put("```mermaid\0" if "mermaid" in (values.get("class") or "") else "```\0")
        elif tag == "code" and not self._pre:
            self._put("`")

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
    source = decoded(data)
    parser = _Text(source.count("\n") + 1)
    parser.feed(source)
    parser.close()
    out: list[str] = []
    for pieces in parser.lines[: source.count("\n") + 1]:
        line = "".join(pieces)
        # A fence's mark has a line of its own only where the source leaves it one; a `\0` says where it would end.
        line = re.sub(r"^\s*(```\w*)\0\s*$", r"\1", line)
        line = re.sub(r"^\s*\0(```)\s*$", r"\1", line)
        out.append(line.replace("```mermaid\0", "").replace("```\0", "").replace("\0```", "").rstrip())
    text = _balanced(out)
    return Extracted("\n".join(text), " ".join(parser.title.split()))


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
    return [line if line.startswith("```") else line.lstrip() if line.lstrip().startswith("#") else line for line in lines]


READER = TextReader(frozenset({".html", ".htm", ".xhtml"}), Syntax.MARKDOWN, Tier.AUTHORED, _read)
