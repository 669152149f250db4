"""What only reads goes to the replica; inside an answer's snapshot it sees what everything else in the answer sees."""

from __future__ import annotations

import psycopg
import pytest

from nexus.ports.observed import EdgeFilter, ObservedHistory, ObservedReader
from nexus.settings.load import load_settings
from nexus.store.pool import Database
from nexus.wiring.runtime import Runtime


@pytest.fixture
def replica(database_url, database):
    """A pool of its own on the same server, which is as good as a replica that is never behind."""
    made = Database(database_url, size=1, primary=database)
    yield made
    made.close()


def backend(database):
    with database.connection() as connection:
        return connection.execute("SELECT pg_backend_pid()").fetchone()[0]


def test_readers_use_the_replica_and_writers_do_not(database, replica, tmp_path):
    runtime = Runtime(load_settings({"data": tmp_path}), database, replica=replica)
    reader, history = runtime.get(ObservedReader), runtime.get(ObservedHistory)
    assert reader.database is replica
    assert history.database is database
    assert reader.edges(EdgeFilter("default")) == []


def test_without_one_everything_is_the_database(database, tmp_path):
    runtime = Runtime(load_settings({"data": tmp_path}), database)
    assert runtime.get(ObservedReader).database is database


def test_an_answer_is_of_one_state(database, replica):
    assert backend(replica) != backend(database)
    with database.snapshot():
        inside = backend(database)
        assert backend(replica) == inside
        with psycopg.connect(database.url) as other:
            other.execute("INSERT INTO observed_edge (rid, relation, source) VALUES ('x', 'SERVICE', 'late')")
        with replica.connection() as connection:
            assert connection.execute("SELECT count(*) FROM observed_edge").fetchone()[0] == 0
    with replica.connection() as connection:
        assert connection.execute("SELECT count(*) FROM observed_edge").fetchone()[0] == 1
