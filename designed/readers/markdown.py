"""Markdown (CommonMark with tables and front matter): running text, tables, lists; diagrams and manifests in its code fences."""

from __future__ import annotations

from typing import Final

from designed.reader import Reader
from designed.written import written

READER: Final[Reader] = written("markdown")
