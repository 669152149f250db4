"""Observed rows: in by COPY, replaced with the position they were made at in one transaction; out by edge and range."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any, Final

import polars as pl

from nexus.model.window import TimeRange
from nexus.store.copied import copied
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed")
# Minutes that are not folded into the other grains yet.
PENDING: Final = -1
MINUTE, HOUR, DAY = 0, 1, 2
KEY: Final = ("tenant", "grain", "edge", "start", "shard")
_COUNTS: Final = (
    "facts",
    "calls",
    "handled",
    "messages",
    "retries",
    "client_errors",
    "server_errors",
    "errors",
    "cancelled",
    "observed",
    "clock_suspect",
    "queue_unmeasured",
    "client_sum",
    "server_sum",
    "queue_sum",
    "first_ns",
    "last_ns",
    "client_min",
    "client_max",
    "server_min",
    "server_max",
    "queue_min",
    "queue_max",
)
ROW_SCHEMA: Final[dict[str, Any]] = {
    "tenant": pl.String,
    "grain": pl.Int16,
    "edge": pl.Int64,
    "start": pl.Int64,
    **dict.fromkeys(_COUNTS, pl.Int64),
    "bags": pl.String,
    "sketches": pl.Binary,
    "shown": pl.Binary,
    "examples": pl.String,
    "shard": pl.Int16,
}
_BYTES: Final = ("sketches", "shown")
# Offenders of a tenant from which on no new ones are named (a batch may bring the last few).
MAX_OFFENDERS: Final = 1000
# The local log.
LOCAL: Final = 0
# Seconds since the epoch, and where a log stood.
Marks = list[tuple[float, dict[str, int]]]
_IDS: Final[dict[str, Any]] = {"tenant": pl.String, "rid": pl.String, "id": pl.Int64}


@dataclass(frozen=True, slots=True)
class Position:
    """How far the log is rolled up; `rules` names the settings that the kept rows were made with, `holder` the folder that has the working spans."""

    position: dict[str, int]
    seq: int
    rules: str
    holder: str = ""


def position_name(shard: int) -> str:
    """What a shard's position is called."""
    return "observed" if shard == LOCAL else f"observed-{shard}"


def lock_position(connection: Connection, shard: int = LOCAL) -> Position:
    """The position of a shard, held until the transaction ends: one writer of the shard at a time."""
    connection.execute(_SQL["lock_writer"], {"shard": shard})
    row = connection.execute(_SQL["position"], {"name": position_name(shard)}).fetchone()
    return Position({}, 0, "") if row is None else Position(*row)


def move_position(connection: Connection, moved: Position, at: datetime, shard: int = LOCAL) -> None:
    """Store the position of a shard."""
    values = {
        "name": position_name(shard),
        "position": json.dumps(moved.position),
        "seq": moved.seq,
        "rules": moved.rules,
        "at": at,
        "holder": moved.holder,
    }
    connection.execute(_SQL["move_position"], values)


def marks(connection: Connection, shard: int) -> Marks:
    """Where the shard's log stood, oldest first."""
    row = connection.execute(_SQL["marks"], {"name": position_name(shard)}).fetchone()
    return [] if row is None else [(at, position) for at, position in row[0]]


def set_marks(connection: Connection, shard: int, found: Marks) -> None:
    """Replace them."""
    connection.execute(_SQL["set_marks"], {"name": position_name(shard), "marks": json.dumps(found)})


def edge_ids(connection: Connection, edges: pl.DataFrame) -> pl.DataFrame:
    """`tenant`, `rid` -> `id` of those `edges` that are known."""
    wanted = {"tenants": edges["tenant"].to_list(), "rids": edges["rid"].to_list()}
    return pl.DataFrame(connection.execute(_SQL["edge_ids"], wanted).fetchall(), schema=_IDS, orient="row")


def add_edges(connection: Connection, edges: pl.DataFrame) -> pl.DataFrame:
    """Add edges (columns as in observed_edge, without id); their `tenant`, `rid`, `id`."""
    names = (
        "tenant",
        "rid",
        "relation",
        "source",
        "source_env",
        "target",
        "target_kind",
        "target_env",
        "infrastructure",
    )
    # In one order everywhere: shards that add the same edges wait for one another, and never in a circle. Likewise below.
    edges = edges.sort("tenant", "rid")
    connection.execute(_SQL["add_edges"], {f"{name}s": edges[name].to_list() for name in names})
    return edge_ids(connection, edges)


def edges_held(connection: Connection, tenants: list[str]) -> dict[str, int]:
    """How many edges and services each tenant has."""
    return dict(connection.execute(_SQL["edges_held"], {"tenants": tenants}).fetchall())


def overflow_held(connection: Connection, tenants: list[str]) -> dict[str, int]:
    """How many overflow edges of single sources each tenant has."""
    return dict(connection.execute(_SQL["overflow_held"], {"tenants": tenants}).fetchall())


def known_services(connection: Connection, tenants: list[str]) -> pl.DataFrame:
    """`tenant`, `source`, `source_env` of services that have rows."""
    rows = connection.execute(_SQL["known_services"], {"tenants": tenants}).fetchall()
    return pl.DataFrame(rows, schema=dict.fromkeys(("tenant", "source", "source_env"), pl.String), orient="row")


def count_overflow(connection: Connection, lost: pl.DataFrame) -> None:
    """Add `tenant`, `offender`, `len` to the counters of folded edges; beyond `MAX_OFFENDERS` of a tenant to that of `(other)`."""
    values = {
        "tenants": lost["tenant"].to_list(),
        "offenders": lost["offender"].to_list(),
        "counts": lost["len"].to_list(),
        "most": MAX_OFFENDERS,
    }
    connection.execute(_SQL["count_overflow"], values)


def overflow(connection: Connection) -> list[tuple[str, str, int]]:
    """Per tenant the worst offender, and how many edges were folded in all."""
    return connection.execute(_SQL["overflow"]).fetchall()


def existing_rows(connection: Connection, keys: pl.DataFrame) -> pl.DataFrame:
    """Stored rows of `keys` (`KEY`, `start` in seconds), but for pending ones."""
    _stage(connection, keys)
    with connection.cursor() as cursor, cursor.copy(f"COPY ({_SQL['existing']}) TO STDOUT (FORMAT csv)") as out:
        return _frame(b"".join(bytes(part) for part in out))


def _stage(connection: Connection, keys: pl.DataFrame) -> None:
    # The session's own, so that shards do not wait for one another.
    for name in ("stage_touched", "stage_revised", "clear_staging"):
        connection.execute(_SQL[name])
    _copy(connection, "copy_touched", keys.select(KEY))


def _copy(connection: Connection, name: str, rows: pl.DataFrame) -> None:
    if rows.height:
        with connection.cursor() as cursor, cursor.copy(_SQL[name]) as copy:
            for piece in copied(rows):
                copy.write(piece)


def _frame(text: bytes) -> pl.DataFrame:
    if not text:
        return pl.DataFrame(schema=ROW_SCHEMA)
    rows = pl.read_csv(BytesIO(text), has_header=False, schema=ROW_SCHEMA | dict.fromkeys(_BYTES, pl.String))
    return rows.with_columns(pl.col(_BYTES).str.slice(2).str.decode("hex"))


def replace_rows(connection: Connection, held: pl.DataFrame, rows: pl.DataFrame) -> None:
    """Put `rows` (`ROW_SCHEMA`) in the place of those that are `held` (`KEY`): of the others none is there."""
    rows = rows.select(list(ROW_SCHEMA))
    # What goes and what is new is found here: of staging tables the planner knows nothing, and compares each with each.
    gone = held.join(rows, on=KEY, how="anti")
    revised = rows.join(held, on=KEY, how="semi")
    if gone.height or revised.height:
        _stage(connection, gone)
        _copy(connection, "copy_revised", revised)
        if gone.height:
            connection.execute(_SQL["drop_touched"])
        connection.execute(_SQL["put_revised"])
    add_rows(connection, rows if revised.height == 0 else rows.join(held, on=KEY, how="anti"))


def add_rows(connection: Connection, rows: pl.DataFrame) -> None:
    """Add `rows` (`ROW_SCHEMA`), of which none is there."""
    _copy(connection, "copy_rows", rows.select(list(ROW_SCHEMA)))


def pending_rows(connection: Connection, shard: int) -> pl.DataFrame:
    """Every pending row of a shard."""
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY ({_SQL['pending']}) TO STDOUT (FORMAT csv)", {"shard": shard}) as out,
    ):
        return _frame(b"".join(bytes(part) for part in out))


def windows_held(connection: Connection, tenants: list[str], starts: list[int], shard: int) -> set[int]:
    """Those minutes (seconds) of which a shard has folded rows."""
    return {
        start
        for (start,) in connection.execute(
            _SQL["windows_held"], {"tenants": tenants, "starts": starts, "shard": shard}
        ).fetchall()
    }


def rows_inside(connection: Connection, grain: int, over: pl.DataFrame, size: int, shard: int) -> pl.DataFrame:
    """Rows of `grain` of a shard inside the coarser windows of `over` (`tenant`, `edge`, `over` = start), `size` seconds long."""
    values = {
        "grain": grain,
        "tenants": over["tenant"].to_list(),
        "edges": over["edge"].to_list(),
        "starts": over["over"].to_list(),
        "size": size,
        "shard": shard,
    }
    return pl.DataFrame(connection.execute(_SQL["rows_inside"], values).fetchall(), schema=ROW_SCHEMA, orient="row")


def touch_windows(connection: Connection, windows: pl.DataFrame, at: datetime) -> None:
    """Note when windows (`tenant`, `start` in seconds) were last touched."""
    windows = windows.sort("tenant", "start")
    connection.execute(
        _SQL["touch_windows"], {"tenants": windows["tenant"].to_list(), "starts": windows["start"].to_list(), "at": at}
    )


def settled_windows(connection: Connection, windows: pl.DataFrame) -> pl.DataFrame:
    """Those of the windows (`tenant`, `start`) that are settled."""
    values = {"tenants": windows["tenant"].to_list(), "starts": windows["start"].to_list()}
    return pl.DataFrame(
        connection.execute(_SQL["settled_windows"], values).fetchall(),
        schema={"tenant": pl.String, "start": pl.Int64},
        orient="row",
    )


def count_deliveries(connection: Connection, counts: pl.DataFrame) -> None:
    """Add `tenant`, `service`, `environment`, `minute`, `late`, `duplicates`, `rejected` to the counters of deliveries."""
    counts = counts.sort("tenant", "service", "environment", "minute")
    names = {
        "tenants": "tenant",
        "services": "service",
        "environments": "environment",
        "minutes": "minute",
        "late": "late",
        "duplicates": "duplicates",
        "rejected": "rejected",
    }
    connection.execute(_SQL["count_deliveries"], {key: counts[name].to_list() for key, name in names.items()})


def deliveries(connection: Connection, tenant: str, window: TimeRange) -> dict[tuple[str, str], dict[str, int]]:
    """Counters of deliveries that arrived in a range, by service and environment."""
    rows = connection.execute(_SQL["deliveries"], {"tenant": tenant, "from": window.start, "to": window.end}).fetchall()
    return {
        (service, environment): {"late": late, "duplicates": duplicates, "rejected": rejected}
        for service, environment, late, duplicates, rejected in rows
    }


def delivery_totals(connection: Connection) -> tuple[int, int, int]:
    """Late, duplicate and rejected spans of all tenants."""
    row = connection.execute(_SQL["delivery_totals"]).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def edge_counts(connection: Connection) -> tuple[int, int]:
    """How many edges and services are known, over all tenants."""
    row = connection.execute(_SQL["edge_counts"]).fetchone()
    assert row is not None
    return row[0], row[1]
