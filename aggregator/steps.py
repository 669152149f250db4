"""What each span is, and how it stands to its parent: local, a step to another service, or not seen. Pure.

`steps` returns `Steps`:

- `rows`: those of `prepare` and `row` (its number), `role`, `seen` (parent known and within the horizon), `crossing` (the parent is in another service, or this is a
  remote self-call), `self_consume` (a consumer under its own service's publish span), `local`, `beyond` (left the service, beyond the
  horizon), `latency` (ns or null), `suspect` (end before start, or no end), `entry` (row of the span by which work entered the service);
- `contents`: those of `prepare` with their concepts, `role`, `named_env`, `p` (sampling probability or null) and `voice` (what facts repeat of it: equal
  for contents that differ in nothing else, as in the path of a URL).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.concepts import CONCEPTS, Infrastructure, concepts
from aggregator.memory import Memory
from aggregator.prepare import Prepared, ancestors
from aggregator.sampling import probability
from nexus.model.keys import gathered, mixed, nullable
from nexus.model.span import Kind
from nexus.model.tables import encoded

REMOTE_KNOWN = 0x100
REMOTE = 0x200
# Of contents, what goes into facts as it is.
_VOICE: Final = (
    "sid",
    "kind",
    "role",
    "name",
    "service_version",
    "instance",
    "p",
    "error",
    "cancel",
    "retry",
    "family",
    "database",
    "infrastructure",
    "named_env",
    "msg_system",
)


class Role(IntEnum):
    """What a span does, whatever its kind says."""

    LOCAL = 0
    SERVER = 1
    CALL = 2
    PUBLISH = 3
    PROCESS = 4
    POLL = 5
    SETTLE = 6


CONSUMING = (Role.PROCESS, Role.POLL)


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of pairing, and what contents were found to say under them. Durations in nanoseconds of event time."""

    call_horizon_ns: int = 900 * 10**9
    link_horizon_ns: int = 86_400 * 10**9
    clock_skew_ns: int = 10 * 10**6
    infrastructure: Infrastructure = field(default_factory=lambda: Infrastructure((), ()))
    memory: Memory = field(default_factory=Memory, compare=False)


@dataclass(frozen=True, slots=True)
class Steps:
    """See the module's docstring."""

    rows: pl.DataFrame
    contents: pl.DataFrame
    links: pl.DataFrame

    def array(self, name: str) -> npt.NDArray[Any]:
        """A column of the rows."""
        return self.rows[name].to_numpy()

    def said(self, name: str, rows: npt.NDArray[Any] | pl.Series | None = None) -> pl.Series:
        """A column of the contents for each of `rows` (numbers; null or negative = null), or for all."""
        content = self.rows["content"]
        return self.contents[name].gather(content if rows is None else _at(content, rows))

    def voices(self, contents: pl.Series) -> pl.Series:
        """What facts repeat of contents, as numbers (null stays null)."""
        return self.contents["voice"].gather(contents)

    def take(self, rows: npt.NDArray[Any] | pl.Series, names: Iterable[str]) -> pl.DataFrame:
        """Columns of rows or contents for each of `rows` (numbers; null or negative = nulls)."""
        names = list(names)
        at = rows if isinstance(rows, pl.Series) else nullable(rows)
        found = self.rows.select(
            pl.col("content", *(name for name in names if name in self.rows.columns and name != "content")).gather(at)
        )
        said = [name for name in names if name not in found.columns]
        if said:
            found = pl.concat([found, self.contents.select(pl.col(said).gather(found["content"]))], how="horizontal")
        return found.select(names)

    def where(self, wanted: npt.NDArray[np.bool_], names: Iterable[str]) -> pl.DataFrame:
        """Columns of the rows with the flag."""
        return self.take(np.flatnonzero(wanted), names)


def _at(values: pl.Series, rows: npt.NDArray[Any] | pl.Series) -> pl.Series:
    return values.gather(rows) if isinstance(rows, pl.Series) else gathered(values, rows)


def steps(prepared: Prepared, rules: Rules) -> Steps:
    """See the module's docstring."""
    rows, contents = prepared.rows, prepared.contents
    parent, sid, kind = rows["up"].to_numpy(), rows["sid"].to_numpy(), rows["kind"].to_numpy()
    foreign = (parent >= 0) & (sid[parent] != sid)
    added = rules.memory.recall(contents, lambda some: _roles(concepts(some, rules.infrastructure)))
    said = pl.concat([contents.drop("attributes"), added], how="horizontal")
    content, said = _silenced(rows["content"].to_numpy(), said, (kind >= Kind.SERVER) | foreign)
    said = said.with_columns(voice=pl.Series(encoded(mixed([said[name] for name in _VOICE]))[0]))
    start, end = rows["start_ns"], rows["end_ns"]
    rows = rows.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.UInt32),
        content=pl.Series(content),
        role=pl.Series(said["role"].to_numpy()[content]),
        suspect=end < start,
    ).with_columns(latency=pl.when(end >= start).then(end - start))
    return Steps(_stand(rows, parent, foreign, said["flags"].to_numpy()[content], rules), said, prepared.links)


def _roles(said: pl.DataFrame) -> pl.DataFrame:
    kind = pl.col("kind")
    message = pl.col("message") & ~(pl.col("database") & pl.col("operation").is_null())
    return said.with_columns(
        role=pl.when(kind == Kind.SERVER)
        .then(Role.SERVER)
        .when(kind == Kind.PRODUCER)
        .then(Role.PUBLISH)
        .when((kind == Kind.CONSUMER) & (pl.col("operation") == "receive"))
        .then(Role.POLL)
        .when((kind == Kind.CONSUMER) & (pl.col("operation") == "settle"))
        .then(Role.SETTLE)
        .when(kind == Kind.CONSUMER)
        .then(Role.PROCESS)
        .when(
            (kind == Kind.CLIENT)
            & message
            & (pl.col("operation").is_null() | pl.col("operation").is_in(["send", "create"]))
        )
        .then(Role.PUBLISH)
        .when((kind == Kind.CLIENT) & message & (pl.col("operation") == "receive"))
        .then(Role.POLL)
        .when((kind == Kind.CLIENT) & message & (pl.col("operation") == "settle"))
        .then(Role.SETTLE)
        .when(kind == Kind.CLIENT)
        .then(Role.CALL)
        .otherwise(Role.LOCAL)
        .cast(pl.UInt8),
        named_env=pl.col("environment").fill_null(""),
        p=probability(pl.col("trace_state"), pl.col("source_probability")),
    )


def _silenced(
    content: npt.NDArray[np.uint32], said: pl.DataFrame, heard: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.uint32], pl.DataFrame]:
    """Attributes of local spans say nothing of edges, unless they are the callee's end of a boundary call: the others get contents without concepts."""
    used = np.zeros(said.height, dtype=bool)
    used[content[~heard]] = True
    if not used.any():
        return content, said
    twin = np.cumsum(used, dtype=np.uint32) + np.uint32(said.height - 1)
    mute = said.filter(pl.Series(used)).with_columns(
        [
            pl.lit(value=False).alias(name)
            if said.schema[name] == pl.Boolean
            else pl.lit(None, said.schema[name]).alias(name)
            for name in CONCEPTS
        ],
    )
    return np.where(heard, content, twin[content]), pl.concat([said, mute.select(said.columns)])


def _stand(
    rows: pl.DataFrame,
    parent: npt.NDArray[np.int64],
    foreign: npt.NDArray[np.bool_],
    flags: npt.NDArray[Any],
    rules: Rules,
) -> pl.DataFrame:
    role, kind = rows["role"].to_numpy(), rows["kind"].to_numpy()
    start = rows["start_ns"].to_numpy()
    end = np.maximum(rows["end_ns"].to_numpy(), start)
    known = parent >= 0
    publishes = known & (role[parent] == Role.PUBLISH)
    consumes = (role == Role.PROCESS) | (role == Role.POLL)
    gap = np.maximum(start, start[parent]) - np.minimum(end, end[parent])
    seen = known & (gap <= np.where(publishes | consumes, rules.link_horizon_ns, rules.call_horizon_ns))
    said_local = ((flags & REMOTE_KNOWN) != 0) & ((flags & REMOTE) == 0)
    remote_self = (
        known
        & ~foreign
        & (kind == Kind.SERVER)
        & (kind[parent] == Kind.CLIENT)
        & (rows["shared"].to_numpy() | ~said_local)
    )
    self_consume = known & ~foreign & consumes & publishes
    leaves = foreign | remote_self | self_consume
    crossing = seen & (foreign | remote_self)
    local = seen & ~leaves
    up = np.where(local, parent, -1)
    entry = ancestors(up, (kind == Kind.SERVER) | (kind == Kind.CONSUMER))
    return rows.with_columns(
        seen=pl.Series(seen),
        crossing=pl.Series(crossing),
        self_consume=pl.Series(seen & self_consume),
        local=pl.Series(local),
        beyond=pl.Series(known & ~seen & leaves),
        entry=pl.Series(entry),
    )
