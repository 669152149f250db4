"""Made-up worlds judged by a second implementation of the contract that shares nothing with the first: every edge, minute, measure and counter."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from observed_harness import codec, differences, in_process, key_of, label, plain
from observed_reference_rules import reference
from observed_worlds import world

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
