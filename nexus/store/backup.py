"""Dump and load of a whole database at one moment, with PostgreSQL's own programs."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg

from nexus.errors import StoreUnavailable
from nexus.store.observed import Position, lock_position
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("backup")


@dataclass(frozen=True, slots=True)
class Moment:
    """A state of the database that stays readable: its snapshot's name, how far the span log was rolled up in it, what ran on it.

    `unlogged`: tables without lasting content. They are emptied all the time, which a dump would hold up; it takes their definition only.
    """

    snapshot: str
    position: Position
    server_version: str
    migrations: tuple[str, ...]
    unlogged: tuple[str, ...]
    _writer: Connection

    def let_go(self) -> None:
        """Let aggregators go on. The snapshot stays."""
        self._writer.rollback()


@contextmanager
def moment(url: str) -> Iterator[Moment]:
    """A snapshot at which no aggregator is at work: none rolls up, settles, releases or compacts until `let_go`.

    Whoever copies an aggregator's files before `let_go` has those that belong to the snapshot.
    """
    try:
        with (
            psycopg.connect(url, application_name="nexus backup") as writer,
            psycopg.connect(url, application_name="nexus backup") as reader,
        ):
            # The lock first: the snapshot is then of a state that is committed whole, files and rows.
            position = lock_position(writer)
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row = reader.execute(_SQL["snapshot"]).fetchone()
            assert row is not None
            ran = tuple(name for (name,) in reader.execute(_SQL["migrations"]).fetchall())
            unlogged = tuple(name for (name,) in reader.execute(_SQL["unlogged"]).fetchall())
            yield Moment(row[0], position, row[1], ran, unlogged, writer)
    except psycopg.Error as error:
        raise StoreUnavailable(f"PostgreSQL does not answer: {error}".strip()) from error


def dump(pg_dump: Path, url: str, taken: Moment, out: IO[bytes]) -> None:
    """Everything at the moment, in pg_dump's custom format. StoreUnavailable with its message where it fails."""
    _out(
        [
            str(pg_dump),
            "--format=custom",
            "--no-owner",
            f"--snapshot={taken.snapshot}",
            *(f"--exclude-table={name}" for name in taken.unlogged),
            f"--dbname={url}",
        ],
        out,
    )


def dump_definitions(pg_dump: Path, url: str, tables: Sequence[str], out: IO[bytes]) -> None:
    """Definitions of `tables` without their content. Holds them for milliseconds only."""
    _out(
        [
            str(pg_dump),
            "--format=custom",
            "--no-owner",
            "--schema-only",
            *(f"--table={name}" for name in tables),
            f"--dbname={url}",
        ],
        out,
    )


def load(pg_restore: Path, url: str, given: IO[bytes]) -> None:
    """Put a dump into an empty database, all or nothing. StoreUnavailable with pg_restore's message where it fails."""
    command = [str(pg_restore), "--no-owner", "--single-transaction", "--exit-on-error", f"--dbname={url}"]
    with tempfile.TemporaryFile() as problems:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=problems) as process:
            assert process.stdin is not None
            # It ends early where it fails: its own message says why.
            with suppress(BrokenPipeError), process.stdin:
                shutil.copyfileobj(given, process.stdin)
        _check(process.returncode, command[0], problems)


def analyze(url: str) -> None:
    """Collect the statistics that a dump does not hold."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")


def _out(command: list[str], out: IO[bytes]) -> None:
    with tempfile.TemporaryFile() as problems:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=problems) as process:
            assert process.stdout is not None
            try:
                shutil.copyfileobj(process.stdout, out, 1 << 20)
            except BaseException:
                process.kill()
                raise
        _check(process.returncode, command[0], problems)


def _check(code: int, program: str, problems: IO[bytes]) -> None:
    if code:
        problems.seek(0)
        text = problems.read().decode(errors="replace").strip()
        raise StoreUnavailable(f"{Path(program).name} failed: {text[-2000:]}")


__all__ = ["Moment", "analyze", "dump", "dump_definitions", "load", "moment"]
