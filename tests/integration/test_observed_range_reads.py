"""Edges of a range are those with a minute in it, and count what their minutes count: pending, folded, or some of both."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered, key_of, plain
from observed_reference_rules import reference
from observed_worlds import world

from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter
from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC
from nexus.store import observed_read

NOON = datetime.fromtimestamp(codec.BASE_NS // 10**9, UTC)
MINUTE_MS = 60_000
COUNTS = ("calls", "handled", "messages", "errors")
# From and to, in minutes after noon: single minutes, ragged ends over hours and days, whole days, before and after everything.
RANGES = (
    (0, 1),
    (1, 3),
    (-700, -7),
    (-3, 65),
    (59, 361),
    (-900, 4_000),
    (297, 1_733),
    (720, 2_160),
    (1_405, 1_409),
    (9_001, 22_222),
)


def expected(edges, first, last):
    """Counts of the edges with a minute in the range, by key."""
    found = {}
    for edge in edges:
        inside = [row for row in edge["windows"] if first <= row["start_ms"] // MINUTE_MS < last]
        if inside:
            found[key_of(edge)] = {name: sum(row[name] for row in inside) for name in COUNTS}
    return found


# Edges that are looked at one by one, and rows that are few: all found at the first look, among few rows, among many, and one by one after all.
LOOKS = ((2000, 20_000), (1, 20_000), (3, 40), (1, 1))


def pages(store, window):
    """Rids of a range, read twenty at a time."""
    wanted = EdgeFilter("default", window=window, infrastructure="include", limit=20)
    found, page = [], store.edges(wanted)
    while page:
        found += [edge.rid for edge in page]
        page = store.edges(replace(wanted, after=page[-1].rid))
    return found


def test_edges_of_ranges(database, tmp_path, clock, monkeypatch):
    spans = world(5, 30)
    edges = reference(spans, rpc=INFRASTRUCTURE_RPC, paths=INFRASTRUCTURE_PATHS, base_ns=codec.BASE_NS)["edges"]
    bench = Bench(database, tmp_path / "working", clock)
    for number, part in enumerate((spans[::2], spans[1::2])):
        bench.deliver(*delivered(part))
        if number == 0:
            bench.engine.fold(everything=True)
    seen = set()
    for first, last in RANGES:
        window = TimeRange(NOON + timedelta(minutes=first), NOON + timedelta(minutes=last))
        read = bench.store.edges(EdgeFilter("default", window=window, infrastructure="include"))
        found = {key_of(edge): {name: edge[name] for name in COUNTS} for edge in map(plain, read)}
        assert found == expected(edges, first, last), (first, last)
        for looked_at, few in LOOKS:
            monkeypatch.setattr(observed_read, "LOOKED_AT", looked_at)
            monkeypatch.setattr(observed_read, "FEW", few)
            assert pages(bench.store, window) == [edge.rid for edge in read], (first, last, looked_at, few)
        seen.add(len(found))
    # Some hold all, some few, some nothing.
    assert 0 in seen
    assert len(seen) >= 4
