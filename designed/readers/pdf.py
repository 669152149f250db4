"""PDF: the text layer, page by page; headings and items are told by their shape."""

from __future__ import annotations

from typing import Final

from designed.reader import Reader
from designed.written import written

READER: Final[Reader] = written("pdf")
