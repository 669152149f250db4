"""What edges read of a span must come through the door."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import aggregator
from collector_receiver.scrub import KEPT
from nexus.model.attributes import READ

_NAME = re.compile(r"(http|url|db|rpc|messaging|graphql|server|net|network|peer|service\.peer|error)\.[a-z_.]+")


def test_every_attribute_that_the_aggregator_names_is_read_and_kept() -> None:
    """A name in the code that the lists lack would be a column that never comes."""
    named = {
        node.value
        for name in ("concepts", "hosts", "clients")
        for node in ast.walk(ast.parse((Path(aggregator.__path__[0]) / f"{name}.py").read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME.fullmatch(node.value)
    }
    assert len(named) > 30
    assert named - set(READ) == set()
    assert set(READ) - KEPT == set()
