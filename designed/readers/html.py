"""HTML: what a reader of the page sees, with its lists, tables and `<pre class="mermaid">` diagrams."""

from __future__ import annotations

from typing import Final

from designed.reader import Reader
from designed.written import written

READER: Final[Reader] = written("html")
