"""Named queries: `nexus/store/sql/<area>.sql`, blocks that begin with `-- name: <query>`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

_BLOCK = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@cache
def queries(area: str) -> dict[str, LiteralString]:
    """Query name -> SQL of one area. The cast is the one place that vouches for the text: it ships with the code."""
    text = files("nexus.store").joinpath("sql", f"{area}.sql").read_text(encoding="utf-8")
    parts = _BLOCK.split(text)
    return {name: cast("LiteralString", body.strip()) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def areas() -> list[str]:
    """Every area there is; a test prepares each query of each against the migrated schema."""
    return sorted(
        entry.name.removesuffix(".sql")
        for entry in files("nexus.store").joinpath("sql").iterdir()
        if entry.name.endswith(".sql")
    )
