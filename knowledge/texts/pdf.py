"""PDF: the text layer, page by page, each page under a heading of its own, so that a citation names the page.

Only machine-readable text: a scanned page without a text layer is reported as a problem, never taken for an empty one.
"""

from __future__ import annotations

import io
import logging

from knowledge.sections import Syntax
from knowledge.texts._shape import Extracted, TextReader
from nexus.errors import MalformedDocument
from nexus.model.document import Tier

MAX_PAGES = 2_000


def _read(data: bytes) -> Extracted:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    out: list[str] = []
    problems: list[tuple[int, str]] = []
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise MalformedDocument("encrypted PDF")  # noqa: TRY301
        title = str((reader.metadata.title if reader.metadata is not None else "") or "")
        for number, page in enumerate(reader.pages, 1):
            if number > MAX_PAGES:
                problems.append((len(out) + 1, f"only the first {MAX_PAGES} pages were read"))
                break
            out.append(f"# Page {number}")
            try:
                text = page.extract_text() or ""
            except Exception as error:  # noqa: BLE001  # one page's failure must not lose the others
                problems.append((len(out), f"page {number} could not be read ({type(error).__name__})"))
                continue
            if not text.strip():
                problems.append((len(out), f"page {number} has no text layer"))
            # A line of the page that looks like a heading is text here.
            out.extend(
                f" {line}" if line.startswith("#") else line
                for line in text.replace("\r", "\n").replace("\x00", "").split("\n")
            )
            out.append("")
    except MalformedDocument:
        raise
    except Exception as error:  # the library raises whatever it meets in a broken file
        raise MalformedDocument(f"no readable PDF ({type(error).__name__})") from error
    return Extracted("\n".join(out) + "\n", " ".join(title.split()), tuple(problems))


READER = TextReader(frozenset({".pdf"}), Syntax.MARKDOWN, Tier.MACHINE_READ, _read)
