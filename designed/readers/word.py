"""Word (.docx): paragraphs, lists and tables. A line is a paragraph."""

from __future__ import annotations

from typing import Final

from designed.reader import Reader
from designed.written import written

READER: Final[Reader] = written("word")
