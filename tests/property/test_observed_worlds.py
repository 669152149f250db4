"""Made-up worlds judged by a second implementation of the contract that shares nothing with the first: every edge, minute, measure and counter."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from observed_harness import codec, differences, in_process, key_of, label, plain
from observed_reference_rules import reference
from observed_worlds import world
from traceql import matched

from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC


def expected(spans):
    return reference(spans, rpc=INFRASTRUCTURE_RPC, paths=INFRASTRUCTURE_PATHS, base_ns=codec.BASE_NS)


@pytest.mark.parametrize("seed", range(4))
def test_a_world(seed):
    spans = world(seed, 25)
    wanted = expected(spans)
    edges, services, minutes = in_process(spans)
    edges = {key_of(edge): edge for edge in map(plain, edges)}
    services = {label(view["name"], view["environment"]): view for view in services}
    assert not differences({"expect": wanted}, edges, lambda edge: minutes[edge["rid"]], services)
    assert set(services) == set(wanted["services"])


@pytest.mark.parametrize("seed", range(2))
def test_trace_queries_find_the_samples_of_a_world(seed):
    """And of what they name not everything else: a query of messages leaves traces without any alone."""
    spans = world(seed, 25)
    traces = {}
    for span in spans:
        traces.setdefault(span["trace"], []).append(span)
    talk = {
        trace
        for trace, mine in traces.items()
        if any("messaging" in key for span in mine for key in span["attributes"])
    }
    for edge in in_process(spans)[0]:
        query = edge.trace_query.query
        assert all(matched(query, traces[example.trace_id]) for example in edge.exemplars), query
        if edge.relation in {"PUBLISHES_OBSERVED", "SUBSCRIBES_OBSERVED"}:
            others = [
                mine
                for trace, mine in traces.items()
                if trace not in talk and not any(span["kind"] in {"PRODUCER", "CONSUMER"} for span in mine)
            ]
            assert others
            assert not any(matched(query, mine) for mine in others), query
