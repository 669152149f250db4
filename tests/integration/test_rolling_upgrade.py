"""A database of the previous release is brought up to date and answers as before; the previous release's statements go on working beside this one's."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from aggregator.reading import ObservedStore
from aggregator.view import Links
from nexus.model.service import Coverage
from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter
from nexus.store import observed
from nexus.store.migrate import _LEDGER, migrate, migrations
from nexus.store.pool import Database

# Those that the previous release has.
RELEASED = (
    "0001",
    "0020",
    "0021",
    "0022",
    "0023",
    "0024",
    "0030",
    "0040",
    "0041",
    "0050",
    "0051",
    "0052",
    "0060",
    "0080",
)
START = 1_768_478_400
DAY = START // 86_400 * 86_400
NS = 10**9
BAGS = [
    {"k": "basis", "i": ["paired"], "n": [7], "m": [0]},
    {"k": "protocol", "i": ["grpc"], "n": [7], "m": [0]},
    {"k": "client", "i": ["700"], "n": [7], "m": [0]},
    {"k": "instance", "i": [f"pod-1\x1f{START // 3600}"], "n": [7], "m": [0]},
]
ERA_BAGS = [
    *BAGS[:3],
    {"k": "instance_name", "i": ["pod-1"], "n": [7], "m": [0]},
    {"k": "day", "i": [str(START // 86_400)], "n": [7], "m": [0]},
    {"k": "hours", "i": ["all"], "n": [1], "m": [0]},
]
EXAMPLES = [{"o": "ordinary", "t": "0a" * 16, "s": "0b" * 8, "d": 1_100_000}]
COLUMNS = (
    "tenant, grain, edge, start, facts, calls, handled, messages, retries, client_errors, server_errors, errors, cancelled, observed, clock_suspect, queue_unmeasured, "
    "client_sum, server_sum, queue_sum, first_ns, last_ns, client_min, client_max, server_min, server_max, queue_min, queue_max, bags, examples"
)


def rows(edge, calls):
    """One edge's rows at every grain, as the previous release writes them."""
    for grain, size in enumerate((60, 3600, 86_400, 64 * 86_400)):
        bags = json.dumps(ERA_BAGS if grain == 3 else BAGS)
        yield (
            "default",
            grain,
            edge,
            START // size * size,
            calls,
            calls,
            calls,
            0,
            0,
            1,
            1,
            1,
            0,
            calls,
            0,
            0,
            calls * 1_000_000,
            0,
            0,
            START * NS,
            START * NS + 5 * NS,
            900_000,
            1_100_000,
            None,
            None,
            None,
            None,
            bags,
            json.dumps(EXAMPLES),
        )


@pytest.fixture
def empty_url(postgres_server):
    name = f"u{uuid4().hex}"
    admin = postgres_server.url.replace("/nexus?", "/postgres?")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield postgres_server.url.replace("/nexus?", f"/{name}?")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def previous(empty_url):
    """A database as the previous release left it."""
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(_LEDGER)
        for migration in migrations():
            if migration.name.startswith(RELEASED):
                connection.execute(migration.sql)
                connection.execute(
                    "INSERT INTO schema_migration (name, checksum) VALUES (%s, %s)",
                    (migration.name, migration.checksum),
                )
        one = connection.execute(
            "INSERT INTO observed_edge (rid, relation, source, source_env, target, target_env) VALUES ('oe-1', 'CALLS_OBSERVED', 'shop', 'prod', 'cart', 'prod') RETURNING id"
        ).fetchone()[0]
        old_write(connection, list(rows(one, 7)))
        connection.execute("INSERT INTO observed_position (name, position, seq) VALUES ('observed', '{\"w\": 5}', 9)")
        connection.execute(
            "INSERT INTO observed_window (tenant, start, touched_at) VALUES ('default', %s, now())", (START,)
        )
    return empty_url


def old_write(connection, written):
    """How the previous release puts rows in the place of others."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(5281876)")
        for name in ("observed_touched", "observed_revised"):
            connection.execute(
                f"CREATE TEMPORARY TABLE IF NOT EXISTS {name} (LIKE {name} INCLUDING DEFAULTS) ON COMMIT DELETE ROWS"
            )
        connection.execute("TRUNCATE observed_touched, observed_revised")
        with connection.cursor() as cursor:
            with cursor.copy("COPY observed_touched (tenant, grain, edge, start) FROM STDIN") as copy:
                for row in written:
                    copy.write_row(row[:4])
            with cursor.copy(f"COPY observed_revised ({COLUMNS}) FROM STDIN") as copy:
                for row in written:
                    copy.write_row(row)
        connection.execute(
            "DELETE FROM observed_row r USING observed_touched t "
            "WHERE r.tenant = t.tenant AND r.grain = t.grain AND r.edge = t.edge AND r.start = t.start AND r.shard = t.shard"
        )
        connection.execute(
            f"INSERT INTO observed_row ({COLUMNS}, sketches, shown, shard) SELECT {COLUMNS}, sketches, shown, shard FROM observed_revised"
        )


def old_pending(connection, edge):
    """How the previous release adds to what is pending."""
    insert = f"INSERT INTO observed_row ({COLUMNS}) VALUES ({', '.join(['%s'] * len(COLUMNS.split(', ')))})"
    row = next(rows(edge, 2))
    for _ in range(2):
        connection.execute(
            f"{insert} ON CONFLICT (tenant, grain, edge, start, shard) DO UPDATE SET calls = excluded.calls",
            (row[0], -1, *row[2:]),
        )


def answers(url):
    """Every edge over all time, over the day, and by minute."""
    database = Database(url, size=1)
    store = ObservedStore(database, Links(), lambda _tenant, _window: Coverage(complete=True))
    day = TimeRange(datetime.fromtimestamp(DAY, UTC), datetime.fromtimestamp(DAY + 86_400, UTC))
    try:
        return [
            store.edges(EdgeFilter("default")),
            store.edges(EdgeFilter("default", window=day)),
            store.series("default", "oe-1", TimeRange(), "1m"),
        ]
    finally:
        database.close()


def test_the_previous_releases_rows_give_the_same_answers_after_the_migration(previous):
    ran = migrate(previous)
    assert "0031_partition_observed.sql" in ran
    with psycopg.connect(previous) as connection:
        places = dict(connection.execute("SELECT grain, tableoid::regclass::text FROM observed_row"))
        # Where the others are depends on how long ago they are.
        assert set(places) == {0, 1, 2, 3}
        assert places[3] == "observed_row_eras"
    everything, of_day, minutes = answers(previous)
    (edge,) = everything
    assert (edge.calls, edge.client_errors, edge.basis, edge.protocols) == (7, 1, {"paired": 7}, {"grpc": 7})
    assert (edge.support.instances, edge.support.instance_hours, edge.active_days) == (1, 1, 1)
    assert edge.client_latency.count == 7
    assert edge.client_latency.sum == pytest.approx(7.0)
    assert [one.trace_id for one in edge.exemplars] == ["0a" * 16]
    assert [item.calls for item in of_day] == [7]
    assert [item["edge"].calls for item in minutes] == [7]
    with psycopg.connect(previous) as connection:
        kept = observed.lock_position(connection)
        assert (kept.position, kept.seq, kept.holder) == ({"w": 5}, 9, "")


def test_the_previous_release_writes_on_beside_this_one(previous):
    migrate(previous)
    with psycopg.connect(previous, autocommit=True) as connection:
        edge = connection.execute("SELECT id FROM observed_edge").fetchone()[0]
        old_write(connection, list(rows(edge, 9)))
        at = datetime.now(UTC)
        connection.execute(
            "INSERT INTO observed_position (name, position, seq, rules, moved_at) VALUES ('observed', '{\"w\": 6}', 10, '', %(at)s) "
            "ON CONFLICT (name) DO UPDATE SET position = excluded.position, seq = excluded.seq, rules = excluded.rules, moved_at = excluded.moved_at",
            {"at": at},
        )
        connection.execute(
            "INSERT INTO observed_window (tenant, start, touched_at) SELECT 'default', unnest(%(starts)s::bigint[]), %(at)s "
            "ON CONFLICT (tenant, start) DO UPDATE SET touched_at = excluded.touched_at",
            {"starts": [START, START + 60], "at": at},
        )
        connection.execute(
            "UPDATE observed_window SET settled = true WHERE NOT settled AND touched_at < %s",
            (at - timedelta(hours=6),),
        )
        assert [edge.calls for found in answers(previous)[:2] for edge in found] == [9, 9]
        old_pending(connection, edge)
        assert [edge.calls for found in answers(previous)[:2] for edge in found] == [11, 11]
        kept = observed.lock_position(connection)
        assert (kept.position, kept.seq) == ({"w": 6}, 10)
