"""Backup and restore of an installation on an embedded database: rows, span log, working spans and uploads of one moment.

Consistency. The rows say how far the log is rolled up (position) and which working files count (seq). Both move in one transaction under the
aggregator's lock. So: take that lock, take a snapshot, hold the files by hard links (milliseconds), let the aggregator go on, then dump the
snapshot and copy the held files at leisure. Nothing between the position and the copy can be released, as only what is committed is released.
What receivers acknowledge after the links are made is not in the backup.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from collector_receiver.log.cut import Piece, cut_log, hold
from nexus.errors import ConfigError, Conflict, InUse, StoreUnavailable
from nexus.settings import Settings
from nexus.store.backup import analyze, dump, dump_definitions, load, moment
from nexus.store.backup_file import DATABASE, DEFINITIONS, FOLDERS, FORMAT, MANIFEST, new_backup, open_backup
from nexus.store.embedded import EmbeddedPostgres, holds_database
from nexus.store.migrate import migrations
from nexus.wiring.process import beside_url, data_folder, database

LOG, WORKING, UPLOADS = FOLDERS
HELD: Final = ".backup-"
STAGING: Final = ".restoring"


@dataclass(frozen=True, slots=True)
class Made:
    """What a backup holds; `apart`: folders outside of the data folder, which it does not."""

    manifest: dict[str, Any]
    files: int
    size: int
    apart: tuple[Path, ...]


def back_up(settings: Settings, file: Path) -> Made:
    """Write `file`, beside a running `nexus up` or without one.

    ConfigError where there is no embedded database, Conflict where the file exists, InUse beside another backup, StoreUnavailable on a full disk.
    """
    data = settings.data
    if settings.database.url is not None:
        raise ConfigError(_SERVER)
    if not holds_database(data):
        raise ConfigError(f"nothing to back up: no database in {data}; give the data folder with --data")
    uploads = settings.knowledge.upload_root
    apart = (uploads,) if uploads is not None and uploads.resolve() != (data / UPLOADS).resolve() else ()
    with ExitStack() as stack:
        held = stack.enter_context(_held(data))
        url = stack.enter_context(_database(settings))
        out = stack.enter_context(new_backup(file))
        taken = stack.enter_context(moment(url))
        try:
            pieces = _hold_files(data, held)
        except OSError as error:
            raise StoreUnavailable(
                f"the files in {data} cannot be held for the backup: {error.strerror or error}"
            ) from error
        now = datetime.now(UTC)
        taken.let_go()
        manifest = {
            "format": FORMAT,
            "release": version("khala-nexus"),
            "made_at": now.isoformat(),
            "postgres": taken.server_version,
            "position": taken.position.position,
            "seq": taken.position.seq,
            "migrations": list(taken.migrations),
        }
        with out.entry(MANIFEST) as entry:
            entry.write(json.dumps(manifest, indent=2).encode())
        pg_dump = EmbeddedPostgres(data).tool("pg_dump")
        with out.entry(DATABASE) as entry:
            dump(pg_dump, url, taken, entry)
        if taken.unlogged:
            with out.entry(DEFINITIONS) as entry:
                dump_definitions(pg_dump, url, taken.unlogged, entry)
        for piece in pieces:
            out.add(piece.name, piece.path, piece.size)
    return Made(manifest, len(pieces), file.stat().st_size, apart)


def restore(file: Path, data: Path) -> dict[str, Any]:
    """Make a data folder from a backup; its manifest. Conflict where the folder has anything in it.

    Everything is made in a folder of its own first and moved into place at the end: what fails leaves nothing that `nexus up` would take for data.
    """
    with open_backup(file) as backup:
        unknown = sorted(set(backup.manifest["migrations"]) - {item.name for item in migrations()})
        if unknown:
            raise ConfigError(
                f"{file} was made by a later release ({backup.manifest['release']}, migration {unknown[-1]}); restore with that release"
            )
        if data.exists() and (not data.is_dir() or any(path.name != "lost+found" for path in data.iterdir())):
            raise Conflict(f"{data} is not an empty folder; restore into a new one, so that nothing is lost")
        with data_folder(data):
            staging = data / STAGING
            try:
                staging.mkdir(mode=0o700)
                backup.extract(staging)
                server = EmbeddedPostgres(staging)
                url = server.start()
                try:
                    for name in (DATABASE, DEFINITIONS) if backup.has(DEFINITIONS) else (DATABASE,):
                        with backup.entry(name) as given:
                            load(server.tool("pg_restore"), url, given)
                    analyze(url)
                finally:
                    server.stop()
                # The database last: without it the folder is no installation.
                for name in (*FOLDERS, "postgres"):
                    if (staging / name).exists():
                        (staging / name).rename(data / name)
            except OSError as error:
                _clear(data)
                raise StoreUnavailable(f"{data} cannot be written: {error.strerror or error}") from error
            except BaseException:
                _clear(data)
                raise
            shutil.rmtree(staging)
        (data / "lock").unlink(missing_ok=True)
        return backup.manifest


def _clear(data: Path) -> None:
    """Take away what a failed restore made in a folder that was empty."""
    for name in (STAGING, *FOLDERS, "postgres"):
        shutil.rmtree(data / name, ignore_errors=True)
    (data / "lock").unlink(missing_ok=True)


def _hold_files(data: Path, held: Path) -> list[Piece]:
    """The log up to what is durable, and the whole files of the other folders, which are replaced and never changed in place."""
    pieces = [Piece(f"{LOG}/{piece.name}", piece.path, piece.size) for piece in cut_log(data / LOG, held / LOG)]
    for folder in (WORKING, UPLOADS):
        for path in sorted((data / folder).rglob("*")) if (data / folder).is_dir() else []:
            name = path.relative_to(data)
            # A part is written under a name of its own until it is whole.
            if path.is_symlink() or not path.is_file() or (folder == WORKING and path.suffix in {".new", ".npy"}):
                continue
            link = held / name
            link.parent.mkdir(parents=True, exist_ok=True)
            if hold(path, link):
                pieces.append(Piece(name.as_posix(), link, link.stat().st_size))
    return pieces


@contextmanager
def _held(data: Path) -> Iterator[Path]:
    """A folder on the data folder's disk for hard links. One backup at a time, so that what a killed one left can be taken away."""
    with (data / "backup.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUse(f"another backup of {data} is being made; wait for it") from error
        for left in data.glob(f"{HELD}*"):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=HELD, dir=data) as folder:
            yield Path(folder)


@contextmanager
def _database(settings: Settings) -> Iterator[str]:
    """The database of the `up` that runs on the data folder, else one started for the backup."""
    with ExitStack() as stack:
        try:
            stack.enter_context(data_folder(settings.data))
        except InUse:
            url = beside_url(settings)
        else:
            url = stack.enter_context(database(settings))
        yield url


_SERVER: Final = (
    'the database is a server of its own (NEXUS_DATABASE__URL): stop the aggregate role, then pg_dump --format=custom --file=nexus.dump "$NEXUS_DATABASE__URL", '
    "then copy spans/, observed/ and uploads/ of the data folder (docs/howto/backup.md)"
)

__all__ = ["Made", "back_up", "restore"]
