"""Text to passages: cut at headings, fences and tables whole, the rest by the recursive-character rule. Pure.

Joined in order, the passages' texts are the original. `lead` repeats the end of the passage before (the overlap); it is
indexed with the passage and shown nowhere.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from knowledge.classify import marks
from knowledge.graphemes import cut_before, may_cut
from knowledge.sections import Block, Kind, Syntax, blocks
from nexus.model.document import Classification

# A fence or table above this is no passage that anybody reads; it is cut at line ends.
WHOLE_LIMIT = 8_000


@dataclass(frozen=True, slots=True)
class Chunk:
    """Characters [start, end) of a text. `lines` are 1-based and inclusive; `section` is the path of headings."""

    section: tuple[str, ...]
    start: int
    end: int
    lines: tuple[int, int]
    lead: str
    kind: Kind
    # Above the document's own level, where a mark inside the text says so.
    level: Classification | None = None


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...]
    depth: int
    blocks: list[tuple[Block, Classification | None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Offsets of the lines of a text."""

    text: str
    starts: tuple[int, ...]

    def offset(self, line: int) -> int:
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def number(self, offset: int) -> int:
        """The 1-based line of an offset."""
        return bisect.bisect_right(self.starts, offset)


def _lines(text: str) -> _Lines:
    starts = [0]
    starts.extend(match.end() for match in re.finditer("\n", text))
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()
    return _Lines(text, tuple(starts))


def chunk(text: str, syntax: Syntax, front: int = 0, *, size: int = 1000, overlap: int = 200) -> list[Chunk]:
    """The passages of a text, in order. `front` = characters of front matter; `size` and `overlap` are in characters."""
    if not text:
        return []
    index = _lines(text)
    lines = [text[start : index.offset(n + 1)].rstrip("\n") for n, start in enumerate(index.starts)]
    found = blocks(lines, syntax, index.number(front - 1) if front else 0)
    out: list[Chunk] = []
    for section in _join_empty(_sections(_split_at_marks(found, index, syntax), text, index)):
        out.extend(_pack(section, index, size, overlap))
    return out


def _split_at_marks(found: list[Block], index: _Lines, syntax: Syntax) -> list[Block]:
    if syntax is not Syntax.MARKDOWN:
        return found
    at = {index.number(offset) - 1 for offset, _ in marks(index.text)}
    if not at:
        return found
    out: list[Block] = []
    for block in found:
        cuts = sorted(line for line in at if block.start < line < block.end) if block.kind is Kind.TEXT else []
        for start, end in zip((block.start, *cuts), (*cuts, block.end), strict=True):
            out.append(Block(block.kind, start, end, block.depth, block.title))
    return out


def _sections(found: list[Block], text: str, index: _Lines) -> Iterator[_Section]:
    """Headings open sections. A mark's level holds until it is ended or its section is."""
    levels = {index.number(offset) - 1: level for offset, level in marks(text)}
    path: list[tuple[int, str]] = []
    current = _Section((), 0)
    raised: Classification | None = None
    since = 0
    for block in found:
        if block.kind is Kind.HEADING:
            yield current
            while path and path[-1][0] >= block.depth:
                path.pop()
            path.append((block.depth, block.title))
            if raised is not None and block.depth <= since:
                raised = None
            current = _Section(tuple(title for _, title in path if title), block.depth)
        if block.kind in {Kind.TEXT, Kind.TABLE, Kind.HEADING}:
            for line in range(block.start, block.end):
                if line in levels:
                    raised, since = levels[line], max(current.depth, 1)
        current.blocks.append((block, raised))
    yield current


def _join_empty(sections: Iterator[_Section]) -> Iterator[_Section]:
    """A heading with nothing under it but a deeper heading goes along with that one: alone it says nothing."""
    held: _Section | None = None
    for section in sections:
        if not section.blocks:
            continue
        if held is not None:
            if section.depth > held.depth and {level for _, level in held.blocks} == {section.blocks[0][1]}:
                section.blocks[:0] = held.blocks
            else:
                yield held
            held = None
        if all(block.kind is Kind.HEADING for block, _ in section.blocks):
            held = section
        else:
            yield section
    if held is not None:
        yield held


def _pack(section: _Section, index: _Lines, size: int, overlap: int) -> Iterator[Chunk]:
    begin = index.offset(section.blocks[0][0].start)
    start = end = begin
    only_heading = True
    first = True
    level = section.blocks[0][1]
    kind = Kind.TEXT

    def emit(stop: int) -> Chunk:
        lead = "" if first else _lead(index.text, start, begin, overlap)
        last = max(start, start + len(index.text[start:stop].rstrip()) - 1)
        return Chunk(section.path, start, stop, (index.number(start), index.number(last)), lead, kind, level)

    for block, block_level in section.blocks:
        low, high = index.offset(block.start), index.offset(block.end)
        changed = block_level != level or block.kind is Kind.FRONT or kind is Kind.FRONT
        if end > start and changed:
            yield emit(end)
            first, start, only_heading = True, end, True
            # What is above another level must not be repeated below it.
            begin = end
        level = block_level
        kind = block.kind if block.kind is Kind.FRONT else Kind.TEXT
        limit = size if first else size - overlap
        whole = block.kind in {Kind.FENCE, Kind.TABLE, Kind.FRONT} and high - low <= WHOLE_LIMIT
        if end > start and not only_heading and high - start > limit:
            yield emit(end)
            first, start = False, end
            limit = size - overlap
        end = high
        while not whole and end - start > limit:
            stop = _cut(index.text, start, limit, end)
            yield emit(stop)
            first, start, only_heading = False, stop, False
            limit = size - overlap
        only_heading = only_heading and block.kind is Kind.HEADING
    if end > start:
        yield emit(end)


_SENTENCE = re.compile(r"(?<=[.!?。！？])[\"')\]”’]*\s+|(?<=다\.)\s*")


def _cut(text: str, start: int, limit: int, end: int) -> int:
    """Where the passage that begins at `start` ends: after the last paragraph, line, sentence, word or character that fits."""
    stop = min(start + limit, end)
    lowest = start + limit // 2
    for separator in ("\n\n", "\n"):
        at = text.rfind(separator, lowest, stop)
        if at >= 0 and at + len(separator) <= stop:
            return at + len(separator)
    sentences = [match.end() for match in _SENTENCE.finditer(text, lowest, stop) if match.end() > lowest]
    if sentences:
        return sentences[-1]
    at = max(text.rfind(" ", lowest, stop), text.rfind("\t", lowest, stop))
    return at + 1 if at >= 0 else cut_before(text, stop, start)


def _lead(text: str, start: int, begin: int, overlap: int) -> str:
    """Up to `overlap` characters before `start`, from a word's beginning, not before `begin`."""
    low = max(begin, start - overlap)
    if low > begin:
        window = text[low:start]
        spot = next((place for mark in ("\n", " ") if 0 <= (place := window.find(mark)) < len(window) // 2), -1)
        low += spot + 1
    while low < start and not may_cut(text, low):
        low += 1
    return text[low:start]
