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


# Characters of documents whose blocks are remembered: both passes ask for them.
REMEMBERED = 4 * 1024 * 1024


class _Recent:
    """Documents by suffix and text, as many as may be remembered."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Document] = {}
        self._characters = 0

    def document(self, suffix: str, text: str) -> Document:
        found = self._known.get((suffix, text))
        if found is None:
            found = _PARSERS.get(suffix, parse)(text)
            if self._characters + len(text) <= REMEMBERED:
                self._characters += len(text)
                self._known[suffix, text] = found
        return found

    def forget(self) -> None:
        self._known.clear()
        self._characters = 0


_RECENT = _Recent()


def document_of(text: SourceText) -> Document:
    """Its blocks, by its suffix; of any other as Markdown. Remembered until `forget`, or until there is too much to remember."""
    return _RECENT.document(text.suffix, text.text)


def forget() -> None:
    """Let go of the blocks that are remembered."""
    _RECENT.forget()
