"""From character offsets to places: line, column, verbatim quote. Pure."""

from __future__ import annotations

from bisect import bisect_right

from designed.reader import Place


class Lines:
    """Line starts of a text. Offsets are characters; lines and columns begin at 1 and are inclusive."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        find = text.find
        position = find("\n")
        while position >= 0:
            self.starts.append(position + 1)
            position = find("\n", position + 1)

    def line(self, offset: int) -> int:
        """Line of an offset."""
        return bisect_right(self.starts, offset)

    def start(self, line: int) -> int:
        """Offset of a line's first character; the text's end for a line behind it."""
        return self.starts[line - 1] if line <= len(self.starts) else len(self.text)

    def place(self, start: int, end: int) -> Place:
        """The stretch [start, end) without white space around it."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        first, last = self.line(start), self.line(max(start, end - 1))
        return Place(
            (first, last),
            (start - self.starts[first - 1] + 1, max(start, end - 1) - self.starts[last - 1] + 1),
            self.text[start:end],
        )

    def has(self, place: Place) -> bool:
        """Whether the quote stands where the place says."""
        (first, last), (left, right) = place.lines, place.columns
        if not (1 <= first <= last <= len(self.starts)) or left < 1 or not place.quote:
            return False
        start, end = self.starts[first - 1] + left - 1, self.starts[last - 1] + right
        # A column behind its line's end would count the line break.
        inside = start < self.start(first + 1) and end <= self.start(last + 1) - (last < len(self.starts))
        return inside and end - start == len(place.quote) and self.text.startswith(place.quote, start)


def is_verbatim(text: str, place: Place) -> bool:
    """Whether the quote stands where the place says. A claim of which this is not true does not exist."""
    return Lines(text).has(place)
