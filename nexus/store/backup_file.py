"""The file of a backup: a zip without compression (what is in it is compressed already), readable by everybody's tools.

```
manifest.json       format, release, time, position, migrations
database.dump       pg_dump --format=custom of one snapshot
definitions.dump    the same of tables without lasting content
spans/ observed/ uploads/    files of the data folder that belong to the snapshot
```

The directory of a zip is written last and each entry has a checksum: half a file or a damaged one is not restored.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from nexus.errors import BadQuestion, Conflict, StoreUnavailable

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DATABASE: Final = "database.dump"
DEFINITIONS: Final = "definitions.dump"
FOLDERS: Final = ("spans", "observed", "uploads")
_CHUNK: Final = 1 << 20


class BackupWriter:
    """An open backup."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    @contextmanager
    def entry(self, name: str) -> Iterator[IO[bytes]]:
        """Where to write the bytes of a new entry."""
        info = zipfile.ZipInfo(name)
        # Files of a restore are for their owner only.
        info.external_attr = 0o100600 << 16
        with self._archive.open(info, "w", force_zip64=True) as out:
            yield out

    def add(self, name: str, path: Path, size: int) -> None:
        """The first `size` bytes of a file. StoreUnavailable where it is shorter."""
        with self.entry(name) as out, path.open("rb") as file:
            left = size
            while left and (part := file.read(min(left, _CHUNK))):
                out.write(part)
                left -= len(part)
        if left:
            raise StoreUnavailable(f"{path} became shorter while it was copied; back up again")


@contextmanager
def new_backup(file: Path) -> Iterator[BackupWriter]:
    """A file that is there whole or not at all. Conflict where it exists already, StoreUnavailable where it cannot be written."""
    if file.exists():
        raise Conflict(f"{file} exists already; name another file")
    partial = file.with_name(f"{file.name}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
                yield BackupWriter(archive)
            raw.flush()
            os.fsync(raw.fileno())
        partial.rename(file)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StoreUnavailable(f"the backup {file} cannot be written: {error.strerror or error}") from error
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


class BackupReader:
    """A backup to restore from."""

    def __init__(self, archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
        self._archive = archive
        self.manifest = manifest

    def entry(self, name: str) -> IO[bytes]:
        """The bytes of an entry; BadZipFile at its end where they are damaged."""
        return self._archive.open(name)

    def has(self, name: str) -> bool:
        """Whether there is such an entry."""
        return name in self._archive.namelist()

    def extract(self, into: Path) -> int:
        """Write the files of the data folder durably under `into`; how many."""
        count = 0
        for name in self._archive.namelist():
            path = PurePosixPath(name)
            if path.parts[0] not in FOLDERS or name.endswith("/"):
                continue
            if ".." in path.parts or path.is_absolute() or "\\" in name:
                raise BadQuestion(f"the backup names a file outside of its folder: {name!r}")
            target = into.joinpath(*path.parts)
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (
                self._archive.open(name) as source,
                os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out,
            ):
                shutil.copyfileobj(source, out, _CHUNK)
                out.flush()
                os.fsync(out.fileno())
            count += 1
        return count


@contextmanager
def open_backup(file: Path) -> Iterator[BackupReader]:
    """A backup with its manifest read. BadQuestion where the file is none, of a format that this release does not know, or damaged."""
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = json.loads(archive.read(MANIFEST))
            if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
                raise BadQuestion(f"{file} is a backup of a format that this release cannot read")
            yield BackupReader(archive, manifest)
    except (zipfile.BadZipFile, EOFError) as error:
        raise BadQuestion(f"{file} is damaged or not a backup: {error}") from error
    except (KeyError, ValueError) as error:
        raise BadQuestion(f"{file} is not a backup: {error}") from error
    except FileNotFoundError as error:
        raise BadQuestion(f"{error.filename or file}: no such file") from error


__all__ = [
    "DATABASE",
    "DEFINITIONS",
    "FOLDERS",
    "FORMAT",
    "MANIFEST",
    "BackupReader",
    "BackupWriter",
    "new_backup",
    "open_backup",
]
