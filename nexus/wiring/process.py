"""A whole process: data folder, database, migrations, roles."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import structlog

from nexus.errors import ConfigError, InUse, NexusError, StoreUnavailable
from nexus.plugins import load_plugins
from nexus.settings import Settings
from nexus.store.embedded import EmbeddedPostgres, holds_database
from nexus.store.migrate import migrate
from nexus.store.pool import Database
from nexus.wiring.beside import beside_settings, keep_settings
from nexus.wiring.event_loop import run
from nexus.wiring.probe import start_probe
from nexus.wiring.runtime import Runtime
from nexus.wiring.supervisor import supervise
from nexus.wiring.telemetry import start_telemetry

# Order of start. Readers of the database come before those who feed it, so that /readyz means what it says.
ROLE_ORDER = ("api", "diff", "ingest", "aggregate", "poll", "receive", "slack")
DATABASE_URL_FILE = "database-url"
# How often it is looked whether the embedded database still runs.
DATABASE_CHECK_S = 1.0
log = structlog.get_logger("nexus.process")


def known_roles() -> tuple[str, ...]:
    """Roles that this release has, in the order of start."""
    found = load_plugins("nexus.wiring.roles", "BUILD")
    return tuple(sorted(found, key=lambda name: ROLE_ORDER.index(name) if name in ROLE_ORDER else len(ROLE_ORDER)))


@contextmanager
def data_folder(folder: Path) -> Iterator[Path]:
    """The data folder, held by an exclusive lock. ConfigError where it cannot be written, InUse where another `up` holds it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("a+")
    except OSError as error:
        msg = f"the data folder {folder} cannot be used: {error.strerror}; give another with --data"
        raise ConfigError(msg) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            msg = f"another nexus already uses the data folder {folder}; stop it or give another with --data"
            raise InUse(msg) from error
        yield folder


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """URL of the database: the configured one, else an embedded server for as long as the context lasts."""
    if settings.database.url is not None:
        yield settings.database.url.get_secret_value()
        return
    server = EmbeddedPostgres(settings.data)
    url = server.start()
    marker = settings.data / DATABASE_URL_FILE
    marker.write_text(url, encoding="utf-8")
    kept = keep_settings(settings)
    stopping = threading.Event()
    keeper = threading.Thread(target=_keep_running, args=(server, stopping), name="database-keeper", daemon=True)
    keeper.start()
    try:
        yield url
    finally:
        stopping.set()
        keeper.join()
        marker.unlink(missing_ok=True)
        kept.unlink(missing_ok=True)
        server.stop()


def _keep_running(server: EmbeddedPostgres, stopping: threading.Event) -> None:
    """Start the embedded database again where it ended (killed for memory, say): what was committed is there, and the roles wait for it meanwhile."""
    while not stopping.wait(DATABASE_CHECK_S):
        try:
            if server.revive():
                log.warning("database_started_again")
        except (NexusError, OSError) as error:
            log.error("database_does_not_start", error=str(error))  # noqa: TRY400  # tried again in a second; its own log has the story


def beside_url(settings: Settings) -> str:
    """The database of a service that runs now (or of the configured server): for commands that work beside it.

    ConfigError where neither a URL is configured nor an `up` runs on the data folder.
    """
    if settings.database.url is not None:
        return settings.database.url.get_secret_value()
    marker = settings.data / DATABASE_URL_FILE
    try:
        return marker.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"no database: start `nexus up --data {settings.data}`, or set NEXUS_DATABASE__URL"
        raise ConfigError(msg) from error


def open_database(settings: Settings, url: str, primary: Database | None = None) -> Database:
    """A pool with the configured limits; `primary` as in `Database`."""
    return Database(
        url, size=settings.database.pool_size, statement_timeout=settings.database.statement_timeout, primary=primary
    )


@contextmanager
def runtime_beside(settings: Settings, *, makes: bool = False) -> Iterator[Runtime]:
    """A runtime for a one-shot command: on the database and the settings of a service that runs, else on an embedded one started for the command.

    StoreUnavailable where there is no data yet, unless the command `makes` them: an empty answer from a folder that was meant to be another is none.
    """
    if settings.database.url is None and not makes and not holds_database(settings.data):
        msg = f"there is no data in {settings.data}: start `nexus up`, or name its folder (--data), a database (NEXUS_DATABASE__URL) or, for reports and questions, a service (NEXUS_API_URL)"
        raise StoreUnavailable(msg)
    with ExitStack() as stack:
        if settings.database.url is not None:
            url = settings.database.url.get_secret_value()
        else:
            try:
                stack.enter_context(data_folder(settings.data))
                url = stack.enter_context(database(settings))
            except InUse:
                url, settings = beside_url(settings), beside_settings(settings)
        migrate(url)
        runtime = Runtime(settings, open_database(settings, url))
        stack.callback(runtime.close)
        yield runtime


def run_up(settings: Settings, on_ready: Callable[[Runtime], None]) -> None:
    """`nexus up`: every role on the data folder, until SIGINT or SIGTERM."""
    with data_folder(settings.data), database(settings) as url:
        migrate(url)
        _serve(settings, url, known_roles(), on_ready, single_user=True)


def run_serve(settings: Settings, roles: Sequence[str], on_ready: Callable[[Runtime], None]) -> None:
    """`nexus serve`: the named roles on a database server. ConfigError on an unknown role or no database."""
    unknown = sorted(set(roles) - set(known_roles()))
    if unknown:
        raise ConfigError([f"--role {name}: no such role; there are {', '.join(known_roles())}" for name in unknown])
    if settings.database.url is None:
        raise ConfigError(
            "NEXUS_DATABASE__URL: `nexus serve` needs a database server; for everything on one machine use `nexus up`"
        )
    url = settings.database.url.get_secret_value()
    migrate(url)
    _serve(settings, url, [name for name in known_roles() if name in roles], on_ready)


def _serve(
    settings: Settings,
    url: str,
    names: Sequence[str],
    on_ready: Callable[[Runtime], None],
    *,
    single_user: bool = False,
) -> None:
    stop_probe = start_probe(settings.telemetry.listen)
    docs = tuple(root.resolve() for root in settings.docs.roots) if "ingest" in names else ()
    pool, read_url = open_database(settings, url), settings.database.read_url
    replica = (
        open_database(settings, read_url.get_secret_value(), pool) if read_url is not None and "api" in names else None
    )
    runtime = Runtime(
        settings, pool, single_user=single_user, rolls_up="aggregate" in names, docs=docs, replica=replica
    )
    stop_telemetry = start_telemetry(settings, "up" if single_user else "-".join(names))
    builders = load_plugins("nexus.wiring.roles", "BUILD")

    def started() -> None:
        runtime.started = True
        on_ready(runtime)

    try:
        roles = [role for role in (builders[name](runtime) for name in names) if role is not None]
        run(supervise(roles, started))
    finally:
        runtime.close()
        stop_probe()
        stop_telemetry()
