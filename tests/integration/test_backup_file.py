"""What a backup holds and what a restore refuses, without a service."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path

import psycopg
import pytest

from collector_receiver.log.cut import cut_log
from collector_receiver.log.folder import recover
from collector_receiver.log.local import Limits, LocalSpanLogWriter
from collector_receiver.log.reader import LocalSpanLogReader
from nexus.errors import BadQuestion, ConfigError, Conflict, InUse
from nexus.model.span import SPAN_SCHEMA
from nexus.settings import load_settings
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.wiring.backup import back_up, restore
from nexus.wiring.process import data_folder

MANIFEST = {"format": 1, "release": "0", "made_at": "2026-01-15T13:00:00+00:00", "migrations": []}


def zipped(path: Path, entries: dict[str, bytes], **manifest: object) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(MANIFEST | manifest))
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def test_no_backup_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    data = tmp_path / "new"
    garbage = tmp_path / "some.zip"
    garbage.write_bytes(b"PK\x03\x04 no backup")
    with pytest.raises(BadQuestion, match="damaged or not a backup"):
        restore(garbage, data)
    with zipfile.ZipFile(tmp_path / "holiday.zip", "w") as archive:
        archive.writestr("beach.jpg", b"sand")
    with pytest.raises(BadQuestion, match="not a backup"):
        restore(tmp_path / "holiday.zip", data)
    with pytest.raises(BadQuestion, match="no such file"):
        restore(tmp_path / "missing.zip", data)
    with pytest.raises(BadQuestion, match="format"):
        restore(zipped(tmp_path / "format.zip", {}, format=2), data)
    with pytest.raises(ConfigError, match="9999_from_the_future"):
        restore(zipped(tmp_path / "later.zip", {}, migrations=["9999_from_the_future.sql"]), data)
    assert not data.exists()


def test_a_folder_with_anything_in_it_is_refused(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("keep")
    good = zipped(tmp_path / "good.zip", {"database.dump": b""})
    with pytest.raises(Conflict, match="not an empty folder"):
        restore(good, taken)
    with pytest.raises(Conflict, match="not an empty folder"):
        restore(good, taken / "mine.txt")
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["spans/../../out.seg", "spans/w/../../../out.seg"])
def test_no_file_outside_of_the_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadQuestion, match="outside of its folder"):
        restore(zipped(tmp_path / "evil.zip", {name: b"x", "database.dump": b""}), tmp_path / "deep" / "data")
    assert not list(tmp_path.rglob("out.seg"))
    assert list((tmp_path / "deep" / "data").iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_file_leaves_nothing_behind(damage: str, tmp_path: Path) -> None:
    file = zipped(
        tmp_path / "b.zip", {"spans/w00-1/0000000000000000.seg": b"entry" * 1000, "database.dump": b"not reached"}
    )
    raw = bytearray(file.read_bytes())
    if damage == "cut":
        raw = raw[: len(raw) // 2]
    else:
        raw[raw.find(b"entryentry") + 500] ^= 0xFF
    file.write_bytes(raw)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(BadQuestion, match="damaged or not a backup"):
        restore(file, empty)
    assert list(empty.iterdir()) == []


def test_a_database_server_is_told_its_own_way(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pg_dump --format=custom"):
        back_up(load_settings({"data": tmp_path, "database": {"url": "postgresql://localhost/x"}}), tmp_path / "b.zip")
    with pytest.raises(ConfigError, match="nothing to back up"):
        back_up(load_settings({"data": tmp_path / "none"}), tmp_path / "b.zip")
    assert list(tmp_path.iterdir()) == []


def test_without_a_service_the_database_is_started_for_it(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "b.zip"
    server = EmbeddedPostgres(data)
    url = server.start()
    migrate(url)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE mine (n int)")
        connection.execute("INSERT INTO mine SELECT generate_series(1, 1000)")
        connection.execute("CREATE UNLOGGED TABLE passing (n int)")
        connection.execute("INSERT INTO passing VALUES (1)")
    server.stop()
    (data / "uploads" / "team").mkdir(parents=True)
    (data / "uploads" / "team" / "a.new").write_text("# A document")
    (data / "observed").mkdir()
    (data / "observed" / "0000000001.spans.new").write_text("half")
    with (data / "backup.lock").open("a") as lock:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InUse):
            back_up(load_settings({"data": data}), file)
    made = back_up(load_settings({"data": data}), file)
    assert made.manifest["migrations"]
    with pytest.raises(Conflict, match="exists already"):
        back_up(load_settings({"data": data}), file)
    again = tmp_path / "again"
    restore(file, again)
    assert sorted(path.name for path in again.iterdir()) == ["postgres", "uploads"]
    assert (again / "uploads" / "team" / "a.new").read_text() == "# A document"
    server = EmbeddedPostgres(again)
    try:
        with psycopg.connect(server.start()) as connection:
            assert connection.execute("SELECT count(*), sum(n) FROM mine").fetchone() == (1000, 500500)
            # Its definition, not its content.
            assert connection.execute("SELECT count(*) FROM passing").fetchone() == (0,)
            assert migrate(server.url) == []
    finally:
        server.stop()
    with data_folder(again):
        pass


def test_the_cut_of_a_log_ends_at_what_is_durable(tmp_path: Path, clock) -> None:
    root, into = tmp_path / "spans", tmp_path / "held"
    log = LocalSpanLogWriter(root, clock, Limits(segment_bytes=64 * 1024))
    spans = frame(300)
    for _ in range(3):
        log.append(spans, "test")
    reader = LocalSpanLogReader(root, clock)
    end = reader.end()
    pieces = cut_log(root, into)
    # The writer goes on, and something that was never acknowledged lies behind.
    log.append(spans, "test")
    (folder,) = [path for path in root.iterdir() if path.is_dir()]
    copy = tmp_path / "copy"
    for piece in pieces:
        target = copy / piece.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(piece.path.read_bytes()[: piece.size])
    assert struct.unpack("<Q", (copy / folder.name / "durable").read_bytes()) == (end[folder.name],)
    assert recover(copy / folder.name) == end[folder.name]
    copied = LocalSpanLogReader(copy, clock)
    assert copied.read({}, 10**6)[0].height == 900
    assert reader.read({}, 10**6)[0].height == 1200
    log.close()


def frame(count: int):
    import polars as pl

    row = {name: None for name in SPAN_SCHEMA} | {"tenant": "default", "trace_id": bytes(15) + b"\x01"}
    return pl.DataFrame(
        [row | {"name": f"n{index}", "span_id": (index + 1).to_bytes(8, "big")} for index in range(count)],
        schema=SPAN_SCHEMA,
    )
