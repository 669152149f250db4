"""reStructuredText: sections, lists, tables of every kind; diagrams in Sphinx's `mermaid`, `uml` and `graphviz` directives."""

from __future__ import annotations

from typing import Final

from designed.reader import Reader
from designed.written import written

READER: Final[Reader] = written("restructuredtext")
