"""Which files an ingest takes: recursive, by glob, inside the root whatever links say. Nothing is skipped without a reason."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from knowledge.classify import path_matches
from nexus.errors import Forbidden, MalformedDocument, NotFound, SourceUnavailable, TooLarge

# Folders of tools, never of people.
SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".mypy_cache",
        ".idea",
        ".vscode",
        ".nexus",
    }
)
# Files that editors write while they save.
_TEMPORARY = re.compile(r"(^\.#|^~\$|~$|\.sw[a-p]$|\.tmp$|\.part$|^#.*#$|^4913$)")


def is_temporary(name: str) -> bool:
    """Whether an editor makes such a file while it saves."""
    return _TEMPORARY.search(name) is not None


def suffix_of(name: str) -> str:
    """What tells a file's format: its ending in lower case; `.env` and `.env.local`, which are all ending, read as `.env`."""
    base = name.rpartition("/")[2].lower()
    return ".env" if base == ".env" or base.startswith(".env.") else PurePosixPath(base).suffix


@dataclass(frozen=True, slots=True)
class Found:
    """A file to ingest: its real place, and its path below the root with `/`."""

    path: Path
    relative: str
    uri: str
    # The root's own name.
    root: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not ingested, and why. `failed` where it should have been."""

    path: str
    reason: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """What an ingest takes. `complete` is False where a folder could not be listed: then nothing counts as deleted."""

    files: tuple[Found, ...]
    skipped: tuple[Skipped, ...]
    complete: bool


def canonical_uri(path: Path) -> str:
    """The identity of a file: its real path as a `file:` URI."""
    return path.as_uri()


def local_path(uri: str) -> Path | None:
    """The file that a canonical URI means; None for a text that lies in none, and for a masked one."""
    return Path(unquote(uri.removeprefix("file://"))) if uri.startswith("file://") and "#" not in uri else None


def is_regular(path: Path) -> bool:
    """Whether there is a file at that very place, by no link; one that cannot be asked for counts as there."""
    try:
        return stat.S_ISREG(path.lstat().st_mode) and Path(os.path.realpath(path)) == path
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def resolve_inside(path: Path, roots: Sequence[Path]) -> tuple[Path, Path]:
    """(real path, the outermost root it lies under), so that a path does not depend on which of its folders was passed.

    Forbidden where it lies under none, also by way of a link.
    """
    real = Path(os.path.realpath(path))
    for root in sorted((Path(os.path.realpath(r)) for r in roots), key=lambda r: len(r.parts)):
        if real == root or root in real.parents:
            return real, root
    raise Forbidden(f"{path} is under none of the allowed roots (NEXUS_DOCS__ROOTS)")


def collect(
    path: Path, root: Path, suffixes: frozenset[str], globs: Sequence[str] = (), *, max_files: int
) -> Collected:
    """Files at or below `path`, sorted. `path` and `root` are real paths; `root` confines and names.

    NotFound where `path` does not exist. TooLarge above `max_files`.
    """
    if path.is_file():
        relative = path.relative_to(root).as_posix() if path != root else path.name
        return _one(path, relative, suffixes, globs, root=root.name)
    if not path.is_dir():
        raise NotFound(f"read {path}: no such file or folder")
    files: list[Found] = []
    skipped: list[Skipped] = []
    complete = True
    for entry in _walk(path, root):
        if isinstance(entry, Skipped):
            complete = complete and not entry.failed
            skipped.append(entry)
            continue
        found = _one(
            entry,
            entry.relative_to(root).as_posix(),
            suffixes,
            globs,
            base=entry.relative_to(path).as_posix(),
            root=root.name,
        )
        files.extend(found.files)
        skipped.extend(found.skipped)
        if len(files) > max_files:
            raise TooLarge(f"{path} holds more than {max_files} documents (NEXUS_KNOWLEDGE__MAX_FILES)")
    return Collected(tuple(sorted(files, key=lambda found: found.uri)), tuple(skipped), complete)


def _one(
    path: Path, relative: str, suffixes: frozenset[str], globs: Sequence[str], base: str = "", *, root: str
) -> Collected:
    if is_temporary(path.name):
        return Collected((), (Skipped(relative, "temporary file"),), complete=True)
    if globs and not any(
        path_matches(base or path.name, glob) or ("/" not in glob and path_matches(path.name, glob)) for glob in globs
    ):
        return Collected((), (), complete=True)
    if suffix_of(path.name) not in suffixes:
        return Collected((), (Skipped(relative, f"no reader for {path.suffix or path.name}"),), complete=True)
    # One spelling for people and rules; the place and the identity keep the file's own.
    relative = unicodedata.normalize("NFC", relative)
    return Collected((Found(path, relative, canonical_uri(path), root),), (), complete=True)


def _walk(folder: Path, root: Path) -> Iterator[Path | Skipped]:
    """Regular files below a folder. Links are followed only where they stay inside the root and make no loop."""
    pending = [folder]
    seen = {os.path.realpath(folder)}
    while pending:
        current = pending.pop()
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(current.relative_to(root).as_posix(), f"read {current}: {error.strerror}", failed=True)
            continue
        for entry in entries:
            place = current / entry.name
            relative = place.relative_to(root).as_posix()
            try:
                if entry.is_symlink():
                    real = Path(os.path.realpath(place))
                    if real != root and root not in real.parents:
                        yield Skipped(relative, "the link leaves the root")
                    # What it points at inside the root is met there itself.
                    continue
                if entry.is_dir():
                    if entry.name not in SKIPPED_FOLDERS and os.path.realpath(place) not in seen:
                        seen.add(os.path.realpath(place))
                        pending.append(place)
                elif entry.is_file():
                    yield place
            except OSError as error:
                yield Skipped(relative, f"read {place}: {error.strerror}", failed=True)


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes and when it was last changed."""

    data: bytes
    modified_at: datetime


def read(found: Found, max_bytes: int) -> Content:
    """The bytes of a file as it is now. Errors are named `read PATH: ...`: NotFound, TooLarge, MalformedDocument, SourceUnavailable.

    A file that became a link or a device since it was collected is refused.
    """
    try:
        descriptor = os.open(found.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise MalformedDocument(f"read {found.relative}: not a regular file")
            data = file.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise NotFound(f"read {found.relative}: it is gone") from error
    except OSError as error:
        raise SourceUnavailable(f"read {found.relative}: {error.strerror}") from error
    if len(data) > max_bytes:
        raise TooLarge(f"read {found.relative}: over {max_bytes} bytes (NEXUS_KNOWLEDGE__MAX_FILE_BYTES)")
    return Content(data, datetime.fromtimestamp(status.st_mtime, UTC))
