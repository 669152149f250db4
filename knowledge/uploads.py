"""Where uploads are kept: a folder for each tenant and namespace under one root, and no name leads out of it."""

from __future__ import annotations

import os
import re
import tempfile
import time
import unicodedata
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from nexus.errors import BadQuestion, Forbidden, TooLarge

MAX_NAME = 200
MAX_DEPTH = 8
# What is written goes by another name until it is whole. One of this age was left by a process that was killed.
_PREFIX, _SUFFIX = ".#", ".part"
ABANDONED_S = 3600.0
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def upload_path(name: str) -> Path:
    """The relative path of an upload's name. BadQuestion for one that is no plain path below a folder. Pure."""
    plain = unicodedata.normalize("NFC", name)
    if any(
        ord(character) < 32 or character in '\\:*?"<>|\x7f' or 0xD800 <= ord(character) <= 0xDFFF for character in plain
    ):
        raise BadQuestion(f"name: {name!r} holds a character that no file name may have")
    parts = plain.split("/")
    if plain.startswith("/") or any(part in {"", ".", ".."} for part in parts):
        raise BadQuestion(f"name: {name!r} is no path below the upload folder")
    if len(parts) > MAX_DEPTH or any(
        len(part.encode()) > MAX_NAME or part.startswith(".") or part.endswith((" ", ".")) or _DEVICE.fullmatch(part)
        for part in parts
    ):
        raise BadQuestion(f"name: {name!r} is too long, too deep, hidden or reserved")
    return Path(*parts)


def namespace_folder(root: Path, tenant: str, namespace: str) -> Path:
    """The folder of a tenant's namespace: readable where the names allow it, never ambiguous."""

    def safe(text: str) -> str:
        return (
            text
            if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}", text)
            else "x-" + sha256(text.encode()).hexdigest()[:24]
        )

    return root / safe(tenant) / safe(namespace)


def store(root: Path, tenant: str, namespace: str, name: str, data: bytes, max_bytes: int) -> Path:
    """Write an upload atomically; returns its path. TooLarge over the limit, Forbidden where a link would lead out of the root."""
    if len(data) > max_bytes:
        raise TooLarge(f"{name}: over {max_bytes} bytes (NEXUS_KNOWLEDGE__MAX_FILE_BYTES)")
    folder = namespace_folder(root, tenant, namespace)
    target = folder / upload_path(name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadQuestion(f"name: {name!r} lies below an upload that is a file") from error
    real = Path(os.path.realpath(target.parent))
    inside = Path(os.path.realpath(folder))
    if real != inside and inside not in real.parents:
        raise Forbidden(f"name: {name!r} leads out of the upload folder")
    if target.is_dir():
        raise BadQuestion(f"name: {name!r} is a folder of uploads")
    _clear(real)
    descriptor, scratch = tempfile.mkstemp(dir=real, prefix=_PREFIX, suffix=_SUFFIX)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(scratch).replace(real / target.name)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
    return real / target.name


def _clear(folder: Path) -> None:
    """Remove what killed processes left in a folder: parts of documents that nobody knows of."""
    for left in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(FileNotFoundError):
            if time.time() - left.lstat().st_mtime > ABANDONED_S:
                left.unlink()
