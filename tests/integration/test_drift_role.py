"""The scheduler: one replica works, what is due runs once, an outage and a bug are survived."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest

from diff.doubles import SimulatedWorld
from diff.reader import StoredDrift
from diff.reading import Readers
from diff.run import Config, DriftRunner
from diff.simulate import Sim, TrueEdge, midnight, says
from nexus.errors import StoreUnavailable
from nexus.ports.designed import DesignedReader
from nexus.ports.drift import DriftReader
from nexus.ports.observed import ObservedHistory
from nexus.settings.diff import DiffSettings
from nexus.store.drift_job import give_up_lease, take_lease
from nexus.store.drift_run import list_runs
from nexus.wiring.roles.diff import DiffRole


class Runtime:
    def __init__(self, database, clock, world: SimulatedWorld, settings: DiffSettings) -> None:
        self.database, self.clock = database, clock
        self.settings = SimpleNamespace(diff=settings)
        runner = DriftRunner(database, Readers(world, world, world), clock, Config())
        self.services = {
            DesignedReader: world,
            ObservedHistory: world,
            DriftRunner: runner,
            DriftReader: StoredDrift(database, clock, runner),
        }

    def get(self, port):
        return self.services[port]


@pytest.fixture
def world() -> SimulatedWorld:
    return SimulatedWorld(Sim({"a": 1000, "b": 500}, (TrueEdge("a", "b"),)), [says("a", "b")])


def triggers(database) -> list[tuple[str, str]]:
    with database.connection() as connection:
        return [(row.trigger, row.state) for row in reversed(list_runs(connection, "default", "", 50))]


def test_a_lease_has_one_holder_at_a_time(database) -> None:
    with database.connection() as connection:
        assert take_lease(connection, "x", "one", 60)
        assert not take_lease(connection, "x", "two", 60)
        assert take_lease(connection, "x", "one", 60)
        give_up_lease(connection, "x", "two")
        assert not take_lease(connection, "x", "two", 60)
        give_up_lease(connection, "x", "one")
        assert take_lease(connection, "x", "two", -1)
        assert take_lease(connection, "x", "one", 60)


def test_changes_and_the_clock_make_runs(database, clock, world: SimulatedWorld) -> None:
    clock.at = midnight(40) + timedelta(hours=9)
    role = DiffRole(Runtime(database, clock, world, DiffSettings(schedule="0 * * * *")))
    role._tick("default")
    assert triggers(database) == []
    clock.at += timedelta(seconds=4)
    role._tick("default")
    assert triggers(database) == [("change", "done")]
    clock.at += timedelta(seconds=30)
    role._tick("default")
    world.designed = [says("a", "b"), says("b", "a", line=2)]
    role._tick("default")
    assert len(triggers(database)) == 1
    clock.at += timedelta(seconds=4)
    role._tick("default")
    assert triggers(database) == [("change", "done"), ("change", "done")]
    # Nine missed firings are one run; on a new day its window is another.
    clock.at = midnight(41) + timedelta(hours=9)
    role._tick("default")
    assert triggers(database)[-1] == ("schedule", "done")
    role._tick("default")
    assert len(triggers(database)) == 3


def test_an_outage_is_a_failed_run_and_is_tried_again(database, clock, world: SimulatedWorld) -> None:
    clock.at = midnight(40) + timedelta(hours=9)
    role = DiffRole(Runtime(database, clock, world, DiffSettings()))
    role._tick("default")
    clock.at += timedelta(seconds=4)
    runner = role._runtime.get(DriftRunner)
    failing = SimulatedWorld(world.sim, world.designed, StoreUnavailable("gone"))
    runner._readers = Readers(failing, failing, failing)
    role._tick("default")
    assert triggers(database) == [("change", "failed")]
    runner._readers = Readers(world, world, world)
    clock.at += timedelta(hours=1)
    role._tick("default")
    role._tick("default")
    assert triggers(database)[-1][1] == "done"


def test_no_run_of_an_empty_world(database, clock) -> None:
    clock.at = midnight(40)
    empty = SimulatedWorld(Sim({}, ()), [])
    empty.document_revision = lambda _tenant: ""  # type: ignore[method-assign]
    role = DiffRole(Runtime(database, clock, empty, DiffSettings()))
    for _ in range(3):
        role._tick("default")
        clock.at += timedelta(seconds=20)
    assert triggers(database) == []
