"""The help of `nexus serve` says of every role how it scales."""

from __future__ import annotations

import re

from nexus.cli.commands import serve
from nexus.wiring.process import known_roles


def test_every_role_is_named_and_nothing_else_is_offered() -> None:
    said = serve.COMMAND.__doc__ or ""
    offered = re.search(r"Role to run: ([a-z, ]+) \(", str(serve.COMMAND.__annotations__["role"]))
    assert offered is not None
    assert {*re.split(r", | or ", offered[1])} == {*known_roles()}
    assert [role for role in known_roles() if not re.search(rf"\b{role}\b", said)] == []
