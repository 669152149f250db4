"""Running text without its markup, with the way back to where each character stood. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

# What marks a piece of a line up. Every markup's pattern has the groups `code` with `inner`, `link` with `text`, and `newline`; what
# other groups match is dropped.
MARKDOWN = re.compile(
    # Nothing else begins with another character: most are passed over at once.
    r"(?=[!`\[<{*~_\\\n]|[ \t]+\n)"
    r"(?:(?P<image>!\[[^\]\n]*\]\([^)\n]*\))"
    r"|(?P<code>(?P<ticks>`+)(?P<inner>[^`]+?)(?P=ticks))"
    r"|(?P<link>\[(?P<text>(?:[^\[\]\n]|\n(?!\n)|!\[[^\]]*\]\([^)]*\))+)\](?:\((?P<url>[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+[\"'][^\"')]*[\"'])?\)|\[[^\]\n]*\]))"
    r"|(?P<auto><(?:https?|mailto):[^>\s]+>)"
    r"|(?P<break><br\s*/?>)"
    r"|(?P<tag></?[A-Za-z][^<>\n]*>|<!--.*?-->)"
    r"|(?P<short>\{\{[<%].*?[>%]\}\})"
    r"|(?P<bold>\*{1,3}|~~|(?<![\w])_{1,3}(?=\w)|(?<=\w)_{1,3}(?![\w]))"
    r"|(?P<escape>\\(?=[!-/:-@\[-`{-~]))"
    r"|(?P<newline>[ \t]*\n[ \t>]*))",
    re.DOTALL,
)
RESTRUCTURED = re.compile(
    r"(?P<code>``(?P<inner>[^`]+)``)"
    r"|(?P<link>(?::[\w:+.-]+:)?`(?P<text>[^`<]+?)(?:\s*<[^>`]+>)?`_{0,2})"
    r"|(?P<note>\s?\[[#*\w.-]+\]_)"
    r"|(?P<bold>\*{1,2}(?=\S)|(?<=\S)\*{1,2})"
    r"|(?P<reference>(?<=\w)_{1,2}(?![\w]))"
    r"|(?P<substitution>\|(?=\w[^|\n]*\w\|)|(?<=\w)\|(?=[\s.,]))"
    r"|(?P<escape>\\)"
    r"|(?P<newline>[ \t]*\n[ \t]*)",
    re.DOTALL,
)
ASCIIDOC = re.compile(
    r"(?P<code>`\+?(?P<inner>[^`\n]+?)\+?`)"
    r"|(?P<image>image:[^\s\[]*\[[^\]]*\]|footnote:[^\s\[]*\[[^\]]*\])"
    r"|(?P<link>(?:(?:link|xref|mailto):[^\s\[]*|https?://[^\s\[\]]+)\[(?P<text>[^\]\n^]*)\^?\])"
    r"|(?P<cross><<[^,<>\n]+,[ ]*|<<|>>)"
    r"|(?P<role>\[[.#%][\w .#%-]*\](?=[#*_`]))"
    r"|(?P<bold>\*{1,2}(?=\S)|(?<=\S)\*{1,2}|(?<![\w])_{1,2}(?=\w)|(?<=[\w.])_{1,2}(?![\w])|(?<![\w])#{1,2}(?=\w)|(?<=\w)#{1,2}(?![\w]))"
    r"|(?P<escape>\\(?=[*_`#\[{<]))"
    r"|(?P<newline>(?:[ \t]+\+)?[ \t]*\n[ \t]*)",
    re.DOTALL,
)
# Text of pages has no marks.
PLAIN = re.compile(r"(?P<code>(?!)(?P<inner>))|(?P<link>(?!)(?P<text>))|(?P<newline>[ \t]*\n[ \t]*)")
# Without any of these no markup marks anything.
_MARKED = re.compile(r"[`*_\[\]!<>\\~{\n|:#]")
_SENTENCE_END = re.compile(r"[.!?。](?=[\"')\]]*(?:\s|$))[\"')\]]*|[。]")
_ABBREVIATION = re.compile(r"(?:\b(?:[eE]\.g|[iI]\.e|etc|vs|cf|approx|incl|resp|No|Fig|Mr|Ms|Dr|ca)|\b[A-Z])$")
# What no abbreviation ends with.
_WHOLE_WORD = re.compile(r"[A-Za-z]{4,}[`*_)]*$")


@dataclass(frozen=True, slots=True)
class Flat:
    """`text` is plain; `starts[i]` (in the text) came from `sources[i]` (in the document) and runs on until the next start."""

    text: str
    starts: tuple[int, ...]
    sources: tuple[int, ...]
    # Stretches of `text` that stood in code spans; in links or the bold words that the text begins with, as (start, end).
    code: tuple[tuple[int, int], ...] = ()
    pointed: tuple[tuple[int, int], ...] = ()
    struck: tuple[tuple[int, int], ...] = ()

    def source(self, offset: int) -> int:
        """Offset in the document of an offset in `text`."""
        index = max(0, bisect_right(self.starts, offset) - 1)
        return self.sources[index] + offset - self.starts[index]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """[start, end) of `text` in the document."""
        return self.source(start), self.source(end - 1) + 1

    def in_code(self, offset: int) -> bool:
        """Whether an offset lies in a code span."""
        return any(start <= offset < end for start, end in self.code)

    def marked(self, offset: int) -> bool:
        """Whether an offset lies in a code span, a link or the bold words that a text begins with: somebody pointed at a thing there."""
        return self.in_code(offset) or any(start <= offset < end for start, end in self.pointed)


def flatten(document: str, start: int, end: int, marks: re.Pattern[str] = MARKDOWN) -> Flat:
    """The stretch [start, end) of a document as plain text."""
    if _MARKED.search(document, start, end) is None:
        return Flat(document[start:end], (0,), (start,))
    pieces: list[str] = []
    starts: list[int] = []
    sources: list[int] = []
    code: list[tuple[int, int]] = []
    pointed: list[tuple[int, int]] = []
    struck: list[tuple[int, int]] = []
    length = 0
    strike: int | None = None
    lead: int | None = None

    def put(text: str, source: int) -> None:
        nonlocal length
        if text:
            pieces.append(text)
            starts.append(length)
            sources.append(source)
            length += len(text)

    def walk(first: int, last: int) -> None:
        nonlocal strike, lead
        position = first
        for match in marks.finditer(document, first, last):
            put(document[position : match.start()], position)
            position = match.end()
            kind = match.lastgroup
            if match["code"] is not None:
                before = length
                inner = match["inner"]
                put(inner.replace("\n", " "), match.start("inner"))
                code.append((before, length))
            elif match["link"] is not None:
                before = length
                walk(match.start("text"), match.end("text"))
                pointed.append((before, length))
            elif kind in {"newline", "break"}:
                put(" ", match.start())
            elif match[0] in ("**", "__"):
                if lead is not None:
                    pointed.append((lead, length))
                lead = 0 if length == 0 else None
            elif match[0] == "~~":
                if strike is None:
                    strike = length
                else:
                    struck.append((strike, length))
                    strike = None
        put(document[position:last], position)

    walk(start, end)
    if not starts:
        return Flat("", (0,), (start,))
    return Flat("".join(pieces), tuple(starts), tuple(sources), tuple(code), tuple(pointed), tuple(struck))


def joined(parts: Sequence[Flat], between: str) -> tuple[Flat, list[tuple[int, int]]]:
    """Stretches of a document as one text with `between` them, and each as [start, end) of it."""
    text = ""
    starts: list[int] = []
    sources: list[int] = []
    bounds: list[tuple[int, int]] = []
    marked: tuple[list[tuple[int, int]], ...] = ([], [], [])
    for part in parts:
        if bounds:
            starts.append(len(text))
            sources.append(parts[len(bounds) - 1].source(bounds[-1][1] - bounds[-1][0]))
            text += between
        shift = len(text)
        text += part.text
        starts += [start + shift for start in part.starts]
        sources += part.sources
        for spans, own in zip(marked, (part.code, part.pointed, part.struck), strict=True):
            spans += [(a + shift, b + shift) for a, b in own]
        bounds.append((shift, len(text)))
    return Flat(text, tuple(starts) or (0,), tuple(sources) or (0,), *map(tuple, marked)), bounds


def sentences(flat: Flat) -> list[tuple[int, int]]:
    """Sentences as [start, end) of `flat.text`. Dots inside names and after abbreviations end none."""
    found: list[tuple[int, int]] = []
    text = flat.text
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if text[match.start()] == "." and _ABBREVIATION.search(text, max(0, match.start() - 8), match.start()):
            continue
        if flat.in_code(match.start()):
            continue
        following = text[match.end() :].lstrip()
        # "etc. and more": behind what may be short for something, a small letter goes on, unless a name begins with it.
        if (
            following[:1].islower()
            and text[match.start()] == "."
            and not flat.marked(len(text) - len(following))
            and not re.match(r"[a-z]+[-_]", following)
            and not _WHOLE_WORD.search(text, start, match.start())
            and not flat.in_code(match.start() - 1)
        ):
            continue
        if text[start : match.end()].strip():
            found.append((start, match.end()))
        start = match.end()
    if text[start:].strip():
        found.append((start, len(text)))
    return [(s + len(text[s:e]) - len(text[s:e].lstrip()), e) for s, e in found]
