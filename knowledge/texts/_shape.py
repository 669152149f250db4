"""The shape of a text reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from knowledge.sections import Syntax
from nexus.errors import MalformedDocument
from nexus.model.document import Tier


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document as text: lines end in LF. `problems` are (line, what could not be read); the rest was."""

    text: str
    title: str = ""
    problems: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TextReader:
    """A family of formats. `syntax` is that of the text which comes out; `read` raises MalformedDocument for a file that cannot be read at all."""

    suffixes: frozenset[str]
    syntax: Syntax
    tier: Tier
    read: Callable[[bytes], Extracted]


def decoded(data: bytes) -> str:
    """UTF-8 to text with LF line ends and without a byte order mark. MalformedDocument for binary data and other encodings."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MalformedDocument("UTF-16, not UTF-8")
    if b"\x00" in data:
        raise MalformedDocument("binary, not text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedDocument(f"not UTF-8 (byte {error.start})") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
