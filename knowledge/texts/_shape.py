"""The shape of a text reader."""

from __future__ import annotations

import codecs
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


# Characters of KS X 1001, without which no text in Korean of that time is; of what is not ASCII at least so much.
_KOREAN_SHARE = 0.8


def decoded(data: bytes) -> Extracted:
    """Bytes to text with LF line ends and without a byte order mark: UTF-8, else UTF-16 with its mark, else CP949 (EUC-KR), which is then a problem on record.

    MalformedDocument for binary data and other encodings.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _noted(_strict(data, "utf-16"), "UTF-16")
    if b"\x00" in data:
        raise MalformedDocument("binary, not text")
    try:
        return Extracted(_lines(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        try:
            text = data.decode("cp949")
        except UnicodeDecodeError:
            text = ""
        if not _korean(text):
            raise MalformedDocument(f"not UTF-8 (byte {error.start})") from error
        return _noted(text, "CP949")


def _noted(text: str, encoding: str) -> Extracted:
    if "\x00" in text:
        raise MalformedDocument("binary, not text")
    return Extracted(_lines(text), problems=((1, f"read as {encoding}; save it as UTF-8"),))


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise MalformedDocument(f"not {encoding.upper()} (byte {error.start})") from error


def _korean(text: str) -> bool:
    """Whether what CP949 makes of the bytes is Korean: nearly every byte sequence is something in it."""
    foreign = [character for character in text if not character.isascii()]
    common = sum("가" <= character <= "힣" and len(character.encode("euc_kr", "ignore")) == 2 for character in foreign)
    return bool(foreign) and common >= len(foreign) * _KOREAN_SHARE


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
