"""Made-up worlds where time or numbers run out: spans for windows that have settled, and more edges than may stand. Many tenants of one engine, each with a world."""

from __future__ import annotations

import random
import sys
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from observed_harness import Bench, codec, delivered_together, differences
from observed_reference_limits import OTHER, folded, held_back, with_late
from observed_reference_rules import reference
from observed_worlds import world

from aggregator.engine import Engine
from aggregator.numbers import SPARE
from aggregator.working import WorkingSpans
from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC

SEEDS = range(3)
# Fewer than the edges of a world, services among them.
MOST = 16
RULES = {"rpc": INFRASTRUCTURE_RPC, "paths": INFRASTRUCTURE_PATHS}
# Beyond every horizon of a world: what comes then has windows and traces of its own.
LATER_NS = 200 * 3_600_000_000_000


def later(spans):
    return [span | {"start_ns": span["start_ns"] + LATER_NS, "end_ns": span["end_ns"] + LATER_NS} for span in spans]


def wrong(bench, tenant, wanted):
    """What of a tenant's edges, minutes and services is not as it should be."""
    windows, services = bench.all_windows(tenant), bench.services(tenant)
    found = differences({"expect": wanted}, bench.edges(tenant), lambda edge: windows[edge["rid"]], services)
    strange = set(services) ^ set(wanted["services"])
    return [*found, f"services {strange}"] if strange else found


def late_ones(bench, clock, seeds):
    """Tenants in which something is wrong after spans came late, and among them spans for windows never seen."""
    parts = {}
    for seed in seeds:
        parts[f"t{seed}"] = *held_back(world(seed, 12), random.Random(seed)), later(world(seed + 10_000, 6))
    bench.deliver(*delivered_together({tenant: kept for tenant, (kept, _, _) in parts.items()}))
    before = {tenant: bench.edges(tenant) for tenant in parts}
    clock.at += timedelta(hours=7)
    assert bench.engine.settle() > 0
    late = {tenant: held for tenant, (_, held, _) in parts.items() if held}
    bench.deliver(*delivered_together(late))
    assert {tenant: bench.edges(tenant) for tenant in parts} == before
    # Twice: what came late is late again, and no duplicate of anything.
    bench.deliver(*delivered_together({tenant: held + parts[tenant][2] for tenant, held in late.items()}))
    return {
        tenant: found
        for tenant, held in late.items()
        if (found := wrong(bench, tenant, _with_late(parts[tenant][0] + parts[tenant][2], held * 2)))
    }


def _with_late(spans, late):
    wanted = reference(spans, **RULES, base_ns=codec.BASE_NS)
    return wanted | {"services": with_late(wanted["services"], late)}


def too_many(bench, seeds):
    """Tenants in which something is wrong where more edges come than may stand, in two batches."""
    worlds = {f"t{seed}": world(seed, 12) for seed in seeds}
    for part in (slice(0, None, 2), slice(1, None, 2)):
        bench.deliver(*delivered_together({tenant: spans[part] for tenant, spans in worlds.items()}))
    found = {}
    for tenant, spans in worlds.items():
        edges, windows = bench.edges(tenant), bench.all_windows(tenant)
        assert any(OTHER in key for key in edges), tenant
        wanted = {"edges": folded(spans, set(edges), codec.BASE_NS, **RULES)}
        # A fold takes versions, samples and such of several edges together, of which a row keeps as many as of one.
        mine = differences({"expect": wanted}, edges, lambda edge, windows=windows: windows[edge["rid"]], {})
        most = MOST + MOST // SPARE + len({key[1:2] + key[3:] for key in edges}) + 1
        if len(edges) + len(bench.services(tenant)) > most:
            mine.append(f"{len(edges)} edges")
        if mine:
            found[tenant] = mine
    return found


def limited(database, folder, clock):
    """A bench whose engine lets few edges stand."""
    bench = Bench(database, folder / "unused", clock)
    bench.engine = Engine(bench.log, database, WorkingSpans(folder / "w"), bench.rules, clock, max_edges=MOST)
    return bench


def test_spans_for_settled_windows_are_counted_and_change_nothing(database, tmp_path, clock):
    assert not late_ones(Bench(database, tmp_path / "w", clock), clock, SEEDS)


def test_edges_beyond_the_limit_are_folded_and_every_measure_stays(database, tmp_path, clock):
    assert not too_many(limited(database, tmp_path, clock), SEEDS)
