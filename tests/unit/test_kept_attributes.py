"""What edges read of a span must come through the door."""

from __future__ import annotations

from aggregator.attributes import KEYS
from collector_receiver.scrub import KEPT


def test_no_attribute_that_edges_need_is_dropped_at_the_door() -> None:
    assert set(KEYS) - KEPT == set()
