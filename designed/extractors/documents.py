"""The blocks of a written document, whatever its markup. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from designed.extractors.blocks import Document
from designed.extractors.blocks_adoc import parse_adoc
from designed.extractors.blocks_html import parse_html
from designed.extractors.blocks_markdown import parse
from designed.extractors.blocks_page import parse_pages
from designed.extractors.blocks_rst import parse_rst
from nexus.model.document import SourceText

# Formats of running text: reader -> (suffixes, parser).
MARKUPS: Final[dict[str, tuple[frozenset[str], Callable[[str], Document]]]] = {
    "markdown": (frozenset({".md", ".markdown", ".mdx", ".mkd"}), parse),
    "restructuredtext": (frozenset({".rst", ".rest"}), parse_rst),
    "asciidoc": (frozenset({".adoc", ".asciidoc", ".asc"}), parse_adoc),
    "html": (frozenset({".html", ".htm", ".xhtml"}), parse_html),
    # The collecting side gives Word as Markdown, and PDF page by page.
    "word": (frozenset({".docx"}), parse),
    "pdf": (frozenset({".pdf"}), parse_pages),
    "text": (frozenset({".txt", ".text"}), parse),
}
_PARSERS: Final = {suffix: parser for suffixes, parser in MARKUPS.values() for suffix in suffixes}


def document_of(text: SourceText) -> Document:
    """Its blocks, by its suffix; of any other as Markdown."""
    return _PARSERS.get(text.suffix, parse)(text.text)
