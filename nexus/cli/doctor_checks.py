"""From facts to findings: what is wrong and what to do. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from nexus.store.doctor import DatabaseFacts

Json = dict[str, Any]
GIB: Final = 1024**3
# Below, PostgreSQL and the log have no room to work in.
LEAST_FREE: Final = GIB
LEAST_POSTGRES: Final = 160_000
# Above, events of this machine and of the database are told apart by the clocks and not by time.
CLOCK_S: Final = 2.0
EXPIRES_SOON: Final = timedelta(days=21)
# Lists of edges from a replica this old mislead.
REPLICA_S: Final = 300.0
LAG_BYTES: Final = 256 * 1024**2
# Of up to 900 kB, most much smaller: minutes of an aggregator's work.
LAG_MESSAGES: Final = 10_000
NAMES: Final = 8


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    # Works, and is worth knowing.
    NOTICE = "notice"
    PROBLEM = "problem"
    # The check itself was not possible.
    UNCHECKED = "unchecked"
    # Nothing to check: a part that is not set up or does not run.
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was found in an `area`, and what to do about it (empty where nothing is)."""

    area: str
    state: State
    what: str
    do: str = ""


def exit_of(findings: Sequence[Finding]) -> int:
    """0 all well, 1 problems, 2 something could not be checked (and no problem was found)."""
    states = {item.state for item in findings}
    return 1 if State.PROBLEM in states else 2 if State.UNCHECKED in states else 0


def configuration(problems: Sequence[str]) -> list[Finding]:
    """The settings, every problem at once."""
    if not problems:
        return [Finding("configuration", State.OK, "every NEXUS_* variable is known and valid")]
    return [
        Finding(
            "configuration",
            State.PROBLEM,
            problem,
            "correct or unset the variable; docs/reference/settings.md lists all, `nexus check` shows what is in force",
        )
        for problem in problems
    ]


def disk(folder: str, unwritable: str, free: int, total: int, log_bytes: int) -> list[Finding]:
    """The data folder. `unwritable`: why it cannot be written, empty where it can; `log_bytes`: what the span log may still grow to."""
    if unwritable:
        return [
            Finding(
                "data folder",
                State.PROBLEM,
                f"{folder} cannot be written: {unwritable}",
                "let the user that runs Nexus own it, or give another folder with --data or NEXUS_DATA",
            )
        ]
    room = f"{free / GIB:.1f} of {total / GIB:.1f} GiB free"
    if free < LEAST_FREE:
        return [
            Finding(
                "data folder",
                State.PROBLEM,
                f"{folder}: {room}",
                "make room or move the folder: on a full disk receivers refuse spans and PostgreSQL stops",
            )
        ]
    if free < log_bytes:
        return [
            Finding(
                "data folder",
                State.NOTICE,
                f"{folder}: {room}, less than the span log may take ({log_bytes / GIB:.1f} GiB)",
                "lower NEXUS_LOG__MAX_BYTES below the free space, so that senders are asked to wait before the disk is full",
            )
        ]
    return [Finding("data folder", State.OK, f"{folder} can be written, {room}")]


def port(variable: str, address: str, *, answers: bool, free: str, expected: bool, role: str) -> Finding:
    """One port. `free`: why it cannot be listened on (empty = it can); `expected`: a service that runs here should answer on it."""
    area = f"port {variable}"
    if answers:
        return Finding(area, State.OK, f"{role} answers on {address}")
    if expected:
        return Finding(
            area,
            State.PROBLEM,
            f"a service runs, and {role} does not answer on {address}",
            f"give doctor the service's own settings ({variable}); if they are, look at the service's log",
        )
    if free:
        return Finding(
            area,
            State.PROBLEM,
            f"{address} is not free for {role}: {free}",
            f"find who listens (ss -ltnp) and stop it, or choose another address with {variable}; a collector on the same machine often has 4317 and 4318",
        )
    return Finding(area, State.OK, f"{address} is free for {role}")


def database(found: DatabaseFacts, pool_size: int, *, running: bool) -> list[Finding]:
    """The database that answered. `running`: a service works on it now."""
    out = []
    if found.version_number < LEAST_POSTGRES:
        out.append(
            Finding("database", State.PROBLEM, f"PostgreSQL {found.version} is too old", "use PostgreSQL 16 or newer")
        )
    else:
        out.append(Finding("database", State.OK, f"PostgreSQL {found.version} answers"))
    if not found.vector:
        out.append(
            Finding(
                "database",
                State.PROBLEM,
                "the extension vector (pgvector) is not available on the server",
                "install it there (package postgresql-NN-pgvector, image pgvector/pgvector:pg16); managed services name it `vector`",
            )
        )
    if found.max_connections < pool_size + 5:
        out.append(
            Finding(
                "database",
                State.PROBLEM,
                f"the server takes {found.max_connections} connections, one process of Nexus up to {pool_size}",
                "raise max_connections or lower NEXUS_DATABASE__POOL_SIZE (each process has a pool)",
            )
        )
    elif not running and found.max_connections - found.used < pool_size + 5:
        out.append(
            Finding(
                "database",
                State.PROBLEM,
                f"{found.used} of {found.max_connections} connections are in use, one more process of Nexus takes up to {pool_size}",
                "raise max_connections, lower NEXUS_DATABASE__POOL_SIZE, or find who holds them (pg_stat_activity)",
            )
        )
    if found.plain:
        out.append(
            Finding(
                "database",
                State.NOTICE,
                "the connection to the database goes over a network and is not encrypted",
                "add ?sslmode=verify-full&sslrootcert=FILE to NEXUS_DATABASE__URL",
            )
        )
    out += _migrations(found, running=running)
    ahead = found.clock_s
    if abs(ahead) > CLOCK_S:
        out.append(
            Finding(
                "clock",
                State.PROBLEM,
                f"the database's clock is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this machine's",
                "synchronise both (chronyc tracking, timedatectl): windows, leases and late spans go by clocks",
            )
        )
    else:
        out.append(Finding("clock", State.OK, f"this machine and the database differ by {abs(ahead) * 1000:.0f} ms"))
    return out


def replica(delay_s: float | None) -> list[Finding]:
    """The read replica. `delay_s`: since the last transaction that came through, None where it is none."""
    if delay_s is None:
        return [
            Finding(
                "replica",
                State.NOTICE,
                "the server of NEXUS_DATABASE__READ_URL is no replica",
                "unset it where it is the primary: nothing is gained by a second pool",
            )
        ]
    if delay_s > REPLICA_S:
        return [
            Finding(
                "replica",
                State.PROBLEM,
                f"the replica is {delay_s:.0f} s behind, or nothing was written for so long",
                "look at pg_stat_replication on the primary; a long query on the replica may hold it up (max_standby_streaming_delay)",
            )
        ]
    return [Finding("replica", State.OK, f"the replica is {delay_s:.0f} s behind at most")]


def _migrations(found: DatabaseFacts, *, running: bool) -> list[Finding]:
    out = []
    if found.unknown:
        out.append(
            Finding(
                "migrations",
                State.PROBLEM,
                f"the database was migrated by another release ({found.unknown[-1]})",
                "run that release or a later one; migrations only go forward",
            )
        )
    if found.changed:
        out.append(
            Finding(
                "migrations",
                State.PROBLEM,
                f"{', '.join(found.changed[:NAMES])} ran with another text",
                "restore the files of the release that ran, or the database from a backup",
            )
        )
    if found.pending:
        what = f"{len(found.pending)} migration(s) to run, first {found.pending[0]}"
        out.append(
            Finding(
                "migrations",
                State.PROBLEM if running else State.NOTICE,
                what,
                "run `nexus migrate`; `nexus up` and `nexus serve` do so when they start",
            )
        )
    return out or [Finding("migrations", State.OK, "all have run")]


def certificate(
    variable: str, path: str, *, unusable: str, until: datetime | None, since: datetime | None, now: datetime
) -> Finding:
    """One PEM file. `unusable`: why, empty where it can be used; `until`, `since`: its validity (of the certificate of a chain that ends first)."""
    area = f"TLS {variable}"
    if unusable:
        return Finding(
            area,
            State.PROBLEM,
            f"{path}: {unusable}",
            "give a PEM file that the user that runs Nexus may read; certificate and key must belong together",
        )
    if until is not None and until <= now:
        return Finding(
            area,
            State.PROBLEM,
            f"{path} expired on {until:%Y-%m-%d}",
            "renew it and restart Nexus: files are read at start",
        )
    if since is not None and since > now:
        return Finding(
            area,
            State.PROBLEM,
            f"{path} is not valid before {since:%Y-%m-%d %H:%M} UTC",
            "check this machine's clock, or wait",
        )
    if until is not None and until - now < EXPIRES_SOON:
        return Finding(
            area,
            State.NOTICE,
            f"{path} expires on {until:%Y-%m-%d}, in {(until - now).days} days",
            "renew it and restart Nexus",
        )
    return Finding(area, State.OK, f"{path} is valid" + (f" until {until:%Y-%m-%d}" if until else ""))


def status(body: Mapping[str, Any], skew_s: float) -> list[Finding]:
    """`GET /status`: polled sources and lag. `skew_s`: the service's clock against this machine's."""
    out = []
    if abs(skew_s) > CLOCK_S:
        out.append(
            Finding(
                "clock",
                State.PROBLEM,
                f"the service's clock is {abs(skew_s):.1f} s {'ahead of' if skew_s > 0 else 'behind'} this machine's",
                "synchronise both",
            )
        )
    for source in body.get("sources") or []:
        area, reason = f"source {source['name']}", source.get("reason") or ""
        if source["state"] == "failing":
            out.append(
                Finding(
                    area,
                    State.PROBLEM,
                    f"cannot be read: {reason}",
                    "see docs/howto/tempo.md; what was not read is not an absence",
                )
            )
        elif source["state"] == "stopped":
            out.append(
                Finding(
                    area,
                    State.PROBLEM,
                    "nobody polls it any more",
                    "run the poll role, or remove NEXUS_SOURCE_TEMPO__URL everywhere",
                )
            )
        elif source.get("gaps"):
            out.append(
                Finding(
                    area,
                    State.NOTICE,
                    f"{len(source['gaps'])} range(s) were not read completely, the newest: {source['gaps'][-1].get('reason', '')}",
                    "`nexus tempo backfill` reads ranges again; truncated ones need a larger NEXUS_SOURCE_TEMPO__LIMIT or a smaller window",
                )
            )
        else:
            out.append(Finding(area, State.OK, source["state"]))
    lag = (body.get("observed") or {}).get("lag_bytes") or 0
    if lag > LAG_BYTES:
        out.append(
            Finding(
                "span log",
                State.PROBLEM,
                f"{lag / 1024**2:.0f} MiB are acknowledged and not rolled up",
                "docs/howto/operate.md: the aggregator is behind or stopped",
            )
        )
    messages = (body.get("observed") or {}).get("lag_messages") or 0
    if messages > LAG_MESSAGES:
        out.append(
            Finding(
                "span log",
                State.PROBLEM,
                f"{messages} messages are acknowledged and not rolled up",
                "docs/howto/operate.md: an aggregator is behind or stopped",
            )
        )
    return out


def metrics(values: Mapping[str, float]) -> list[Finding]:
    """Counters of `GET /metrics` that should be zero, by name."""
    rules = {
        "nexus_span_log_corrupt_bytes_total": (
            "bytes of the span log were damaged and skipped",
            "check the disk (dmesg, smartctl); restore is of no use, the rest of the log was read",
        ),
        "nexus_span_log_write_failures_total": (
            "writes to the span log failed since the service started",
            "check the disk's space and health; senders were asked to send again",
        ),
        "nexus_otlp_rejected_spans_total": (
            "spans were refused for their ids or start time",
            "GET /services names the service that sends them",
        ),
        "nexus_aggregate_aside_spans_total": (
            "spans could not be rolled up and were set aside",
            "nexus aside lists them with the reason; after an upgrade nexus aside --retry takes them in",
        ),
        "nexus_otlp_warnings_total": (
            "requests were taken that are probably no OTLP",
            "look for a sender that posts another format or snake-case JSON to /v1/traces",
        ),
    }
    return [
        Finding("receiver", State.NOTICE, f"{values[name]:.0f} {what}", do)
        for name, (what, do) in rules.items()
        if values.get(name, 0) > 0
    ]


def report(findings: Sequence[Finding]) -> Json:
    """The findings in JSON."""
    return {
        "result": ("ok", "problems", "unchecked")[exit_of(findings)],
        "findings": [asdict(item) for item in findings],
    }


def text(findings: Sequence[Finding]) -> str:
    """The findings in lines, what to do below each."""
    lines = []
    for item in findings:
        lines.append(f"{item.state.value:<10}{item.area}: {item.what}")
        if item.do:
            lines.append(f"{'':<10}  -> {item.do}")
    return "\n".join(lines)
