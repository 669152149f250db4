"""Plain text, read as Markdown: most of it is written like that."""

from __future__ import annotations

from typing import Final

from designed.reader import Reader
from designed.written import written

READER: Final[Reader] = written("text")
