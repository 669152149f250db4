"""Word: one paragraph a line, so that a line number is a paragraph number; heading styles become headings, tables pipe tables."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator

from knowledge.sections import Syntax
from knowledge.texts._shape import Extracted, TextReader
from nexus.errors import MalformedDocument
from nexus.model.document import Tier

_HEADING = re.compile(r"(?:heading|제목)\s*(\d)", re.IGNORECASE)
# Of all parts together, unpacked: a small archive can hold gigabytes.
MAX_UNPACKED_BYTES = 200 * 1024 * 1024


def _lines(data: bytes) -> Iterator[str]:
    from docx import Document
    from docx.table import Table

    for item in Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(item, Table):
            yield ""
            for number, row in enumerate(item.rows):
                cells = [" ".join(cell.text.split()) for cell in row.cells]
                yield "| " + " | ".join(cells) + " |"
                if number == 0:
                    yield "|" + " --- |" * len(cells)
            yield ""
            continue
        style = item.style.name if item.style is not None else ""
        text = " ".join(item.text.split())
        match = _HEADING.match(style or "")
        if text and match:
            yield f"{'#' * min(int(match[1]), 6)} {text}"
        elif text and style == "Title":
            yield f"# {text}"
        elif text and (style or "").startswith("List"):
            yield f"- {text}"
        else:
            yield text
            # Paragraphs stay apart.
            yield ""


def _read(data: bytes) -> Extracted:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_UNPACKED_BYTES:
                raise MalformedDocument("too large when unpacked")  # noqa: TRY301
        return Extracted("\n".join(_lines(data)) + "\n")
    except MalformedDocument:
        raise
    except Exception as error:  # the library raises whatever it meets in a broken file
        raise MalformedDocument(f"no readable Word document ({type(error).__name__})") from error


READER = TextReader(frozenset({".docx"}), Syntax.MARKDOWN, Tier.AUTHORED, _read)
