"""Lines of a block inside a document (a fence, an embedded diagram): places count from the document's start. Pure."""

from __future__ import annotations

from designed.place import Lines
from designed.reader import Place


class BlockLines(Lines):
    """A block whose first line is `first_line` of its document and whose lines lost `column_offset` characters of indentation."""

    def __init__(self, text: str, first_line: int = 1, column_offset: int = 0) -> None:
        super().__init__(text)
        self.first_line = first_line
        self.column_offset = column_offset

    def line(self, offset: int) -> int:
        """Line in the document of an offset in the block."""
        return super().line(offset) + self.first_line - 1

    def offset(self, line: int, column: int) -> int:
        """Offset of a 0-based line and column of the block (a YAML mark)."""
        return min(self.starts[line] + column, len(self.text)) if line < len(self.starts) else len(self.text)

    def place(self, start: int, end: int) -> Place:
        """The stretch [start, end) without white space around it.

        In an indented block a stretch over several lines is cut to its first line: the block's text lacks the indentation, so
        only single lines are verbatim in the document.
        """
        end = min(end, len(self.text))
        start = min(start, end)
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        if self.column_offset and (newline := self.text.find("\n", start, end)) >= 0:
            return self.place(start, newline)
        last = max(start, end - 1)
        first_start, last_start = (self.starts[self.line(at) - self.first_line] for at in (start, last))
        columns = (start - first_start + 1 + self.column_offset, last - last_start + 1 + self.column_offset)
        return Place((self.line(start), self.line(last)), columns, self.text[start:end])

    def whole_line(self, offset: int) -> Place:
        """The line around an offset, without its indentation."""
        start = self.starts[self.line(min(offset, len(self.text))) - self.first_line]
        end = self.text.find("\n", start)
        return self.place(start, len(self.text) if end < 0 else end)
