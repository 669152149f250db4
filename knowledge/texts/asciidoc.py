"""AsciiDoc, verbatim."""

from __future__ import annotations

from knowledge.sections import Syntax
from knowledge.texts._shape import TextReader, decoded
from nexus.model.document import Tier

READER = TextReader(frozenset({".adoc", ".asciidoc"}), Syntax.ASCIIDOC, Tier.AUTHORED, decoded)
