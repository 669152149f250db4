"""Every pairing case, span by span: five arrival orders, with duplicates, and a restart in the middle. The same edges each time."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, cases, codec, delivered_together, differences

CASES = cases()
# Long cases are cut into so many deliveries; the rest come span by span.
MOST = 8
ORDERS = ("listed", "reversed", "shuffled-1", "shuffled-2", "children-first")


def ordered(spans, order):
    spans = list(spans)
    if order == "reversed":
        spans.reverse()
    elif order == "children-first":
        spans.sort(key=lambda span: (not span["parent"], -span["start_ns"]))
    elif order.startswith("shuffled"):
        random.Random(order).shuffle(spans)
    return spans


def pieces(spans):
    """At most `MOST` deliveries."""
    size = -(-len(spans) // MOST)
    return [spans[at : at + size] for at in range(0, len(spans), size)]


def test_all_cases_are_here():
    assert len(CASES) >= 209


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_every_case_whatever_the_order(order, database, tmp_path, clock):
    settings = {json.dumps(case.get("settings") or {}, sort_keys=True) for case in CASES.values()}
    wrong = {}
    for number, setting in enumerate(sorted(settings)):
        mine = {
            name: case
            for name, case in CASES.items()
            if json.dumps(case.get("settings") or {}, sort_keys=True) == setting
        }
        # Another log: other settings belong to another installation.
        with database.connection() as connection:
            connection.execute("TRUNCATE observed_position")
        # Each case is a tenant of its own: that nothing pairs across tenants is part of what is tested.
        bench = Bench(database, tmp_path / str(number), clock, json.loads(setting))
        cut = {name: pieces(ordered(codec.case_spans(case), order)) for name, case in mine.items()}
        rounds = max(map(len, cut.values()))
        for at in range(rounds):
            now = {}
            for name, parts in cut.items():
                again = [] if order == "listed" else [span for part in parts[: at + 1][-2:-1] for span in part]
                now[name] = [*(parts[at] if at < len(parts) else []), *again]
            bench.deliver(*delivered_together(now))
            if at == rounds // 2:
                bench.restart()
        for name, case in mine.items():
            found = differences(
                case,
                bench.edges(name),
                lambda edge, name=name: bench.windows(edge, name),
                bench.services(name) if case["expect"].get("services") else {},
                deliveries=order == "listed",
            )
            if found:
                wrong[name] = found
    assert not wrong
