"""A file as documents: JSON values, or protobuf messages. Read lazily where the format allows it; gzip is seen by its first bytes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from collector_receiver.replay.problems import Problems
from collector_receiver.replay.protobuf import looks_like_protobuf
from nexus.errors import MalformedSpans, NotFound, TooLarge

# A JSON document must fit into memory; lines and streams need not.
MAX_DOCUMENT_BYTES = 1024 * 1024 * 1024
HEAD_BYTES = 64 * 1024
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed. NotFound where it cannot be read."""
    try:
        file = path.open("rb")
        with file:
            zipped = file.read(2) == _GZIP
            file.seek(0)
            if zipped:
                with gzip.open(file) as plain:
                    yield cast("BinaryIO", plain)
            else:
                yield file
    except (gzip.BadGzipFile, EOFError) as error:
        raise MalformedSpans(f"gzip: {error}") from error
    except OSError as error:
        raise NotFound(error.strerror or str(error)) from error


def head(path: Path) -> bytes:
    """The first bytes, decompressed, without a byte order mark."""
    with opened(path) as file:
        return file.read(HEAD_BYTES).removeprefix(_BOM)


def is_protobuf(start: bytes) -> bool:
    """Whether a file that begins like this is OTLP protobuf rather than text."""
    return looks_like_protobuf(start)


def is_json(start: bytes) -> bool:
    """Whether a file that begins like this is JSON."""
    return start.lstrip()[:1] in {b"{", b"["}


def json_documents(path: Path, problems: Problems) -> Iterator[Any]:
    """Each JSON value of a file: one document, one a line, or several after one another.

    MalformedSpans where the file is no JSON at all; lines that are none are counted in `problems`.
    """
    if _is_lines(head(path)):
        yield from _lines(path, problems)
        return
    with opened(path) as file:
        text = file.read(MAX_DOCUMENT_BYTES + 1).removeprefix(_BOM)
    if len(text) > MAX_DOCUMENT_BYTES:
        raise TooLarge(f"one JSON document of more than {MAX_DOCUMENT_BYTES >> 20} MiB; cut it into JSON lines")
    try:
        yield orjson.loads(text)
    except orjson.JSONDecodeError as error:
        yield from _concatenated(text, str(error))


def _is_lines(start: bytes) -> bool:
    """The first line is a whole value and there is a second one."""
    first, _, rest = start.lstrip().partition(b"\n")
    if not rest.strip():
        return False
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        # A first line longer than the head: an object that is not closed, on one line.
        return False
    return True


def _lines(path: Path, problems: Problems) -> Iterator[Any]:
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
            if not text:
                continue
            try:
                yield orjson.loads(text)
            except orjson.JSONDecodeError:
                problems.add("a line that is no JSON")


def _concatenated(text: bytes, reason: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    try:
        body = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedSpans(f"no JSON: {error.reason} at byte {error.start}") from error
    at = len(body) - len(body.lstrip())
    found = 0
    while at < len(body):
        try:
            value, end = decoder.raw_decode(body, at)
        except (json.JSONDecodeError, RecursionError) as error:
            where = f"after {found} documents: " if found else ""
            raise MalformedSpans(f"no JSON: {where}{reason if not found else error}") from error
        yield value
        found += 1
        at = end + len(body[end:]) - len(body[end:].lstrip())
