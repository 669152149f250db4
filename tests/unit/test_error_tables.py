"""Each leaf of the error tree has a row in each table that translates errors."""

from __future__ import annotations

import pytest

from api.problems import STATUS
from nexus import errors
from nexus.cli.exits import EXIT_CODES


def leaves(root: type[errors.NexusError]) -> list[type[errors.NexusError]]:
    below = root.__subclasses__()
    return [leaf for kind in below for leaf in leaves(kind)] if below else [root]


@pytest.mark.parametrize("kind", leaves(errors.NexusError))
def test_every_leaf_is_translated(kind: type[errors.NexusError]) -> None:
    assert kind in STATUS
    assert kind in EXIT_CODES
    assert kind.code
