"""The embedded PostgreSQL through what happens to a machine: kills, numbers of processes given out again, folders of strangers."""

from __future__ import annotations

import os
import subprocess

import pytest

from nexus.errors import ConfigError
from nexus.store.embedded import EmbeddedPostgres


def test_it_survives_crashes_and_leaves_nothing_outside_its_folder(tmp_path):
    server = EmbeddedPostgres(tmp_path / "data folder")
    file = tmp_path / "data folder" / "postgres" / "postmaster.pid"
    socket_folder = server.start().partition("host=")[2]
    stranger = subprocess.Popen(["sleep", "1000"], **server._as_user())
    try:
        server._process.kill()
        server._process.wait()
        _, _, rest = file.read_text().partition("\n")
        # As after a crash of the machine, whose numbers begin anew.
        file.write_text(f"{stranger.pid}\n{rest}")
        orphaned = EmbeddedPostgres(tmp_path / "data folder")
        orphaned.start()
        assert stranger.poll() is None
        successor = EmbeddedPostgres(tmp_path / "data folder")
        successor.start()
        assert orphaned._process.wait(60) == 0
        successor.stop()
    finally:
        stranger.kill()
        stranger.wait()
        server.stop()
    assert not os.path.exists(socket_folder)


def test_it_takes_no_folder_of_a_stranger_for_its_socket(tmp_path):
    server = EmbeddedPostgres(tmp_path)
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    server._socket.symlink_to(theirs)
    try:
        with pytest.raises(ConfigError, match="is in the way"):
            server._make_socket_folder()
        assert theirs.stat().st_mode & 0o777 == 0o755
    finally:
        server._socket.unlink()
