"""Who owns a trace, and which spans the owners of linked traces have to know. Pure.

Spans of one trace are in one shard, but a message may tie two traces. What is said of such a tie depends on every trace that it joins (a message
counts once a service, a handling accounts for its senders, an end without a destination takes the other's), so each shard that owns one of them is told
the spans of the others, computes the same facts, and keeps those of its own traces: each fact is kept by exactly one shard.

A shard tells of the traces that it owns and of those directly linked to them; what it is told it passes on by the same rule. So everything that is within
reach of a trace comes to its owner, over any number of links, and nothing is sent twice by one shard, whatever comes first: what is told is a function of
the spans known, and a batch sends what its spans add to it. A span that is told twice counts once, as any duplicate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from nexus.model.coded import Spans, tenant_keys
from nexus.model.keys import binary, halves, trace_key
from nexus.model.partition import partition_of
from nexus.model.span import Kind

Keys = npt.NDArray[np.uint64]

_PAIR = ("trace", "partition")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `partitions` shards of a log. Rows and letters know it by `number`; 0 is the local log, which is not divided."""

    partition: int
    partitions: int

    @property
    def number(self) -> int:
        """Its number in the store."""
        return self.partition + 1

    def split(self, spans: Spans) -> tuple[Spans, Spans]:
        """Spans of traces that this shard owns, and the others."""
        if not spans.height:
            return spans, spans
        own = (self._owners(spans.rows) == self.partition).to_numpy()
        return spans.where(own), spans.where(~own)

    def _owners(self, rows: pl.DataFrame) -> pl.Series:
        return partition_of(binary(rows["trace_hi"], rows["trace_lo"]), self.partitions)

    def addressed(self, spans: pl.DataFrame) -> dict[int, pl.DataFrame]:
        """Spans that came to the wrong partition, by the partition that they belong to."""
        if not spans.height:
            return {}
        parts = spans.with_columns(to=partition_of(spans["trace_id"], self.partitions)).partition_by(
            "to", as_dict=True, include_key=False, maintain_order=True
        )
        return {int(str(to)): part for (to,), part in parts.items()}

    def foreign(self, spans: Spans) -> pl.Series:
        """Keys of the traces among `spans` that other shards own."""
        traces = spans.rows.unique("tk", keep="any")
        return traces["tk"].filter(self._owners(traces) != self.partition)

    def told(self, known: pl.DataFrame, new: pl.DataFrame) -> dict[int, pl.DataFrame]:
        """What `new` spans beside the `known` ones of their and linked traces make this shard tell others: spans by partition."""
        every = pl.concat([known, new]) if known.height else new
        after = self._audience(every)
        if not after.height:
            return {}
        before = self._audience(known) if known.height else after.clear()
        fresh = after.join(before, on=_PAIR, how="anti")
        spans = every.with_columns(
            trace=_trace_keys(every["tenant"], every["trace_id"]), added=pl.int_range(pl.len()) >= known.height
        )
        # A shard that is new to a trace gets all of it; one that knows it what was added.
        whole = spans.join(fresh, on="trace")
        added = spans.filter("added").join(after.join(fresh, on=_PAIR, how="anti"), on="trace")
        parts = (
            pl.concat([whole, added]).drop("trace", "added").partition_by("partition", as_dict=True, include_key=False)
        )
        return {int(str(to)): part for (to,), part in sorted(parts.items())}

    def _audience(self, spans: pl.DataFrame) -> pl.DataFrame:
        """`trace` (key), `partition`: which other shards have to know which of these traces from this one."""
        none = pl.DataFrame(schema={"trace": pl.UInt64, "partition": pl.UInt32})
        ends = _ends(spans)
        if not ends.height:
            return none
        far = ends.select(trace="other", partition=partition_of(ends["other_id"], self.partitions))
        near = ends.select(trace="own", partition=partition_of(ends["own_id"], self.partitions))
        owners = pl.concat([far, near]).unique("trace")
        if owners["partition"].n_unique() == 1:
            return none
        pairs = ends.select("own", "other").to_numpy()
        groups = pl.DataFrame({"trace": owners["trace"], "group": _groups(owners["trace"].to_numpy(), pairs)})
        mine = owners.filter(pl.col("partition") == self.partition)["trace"]
        both = pl.concat([ends.select(trace="own", beside="other"), ends.select(trace="other", beside="own")])
        tells = pl.concat([mine, both.filter(pl.col("beside").is_in(mine.implode()))["trace"]]).unique()
        listeners = (
            groups.join(owners, on="trace")
            .select("group", "partition")
            .unique()
            .filter(pl.col("partition") != self.partition)
        )
        told = (
            groups.filter(pl.col("trace").is_in(tells.implode()))
            .join(listeners, on="group")
            .join(owners.rename({"partition": "owner"}), on="trace")
        )
        return told.filter(pl.col("owner") != pl.col("partition")).select("trace", "partition")


def _ends(spans: pl.DataFrame) -> pl.DataFrame:
    """Both ends of links between traces, of spans that may tie messages: keys `own` and `other`, trace ids `own_id` and `other_id`."""
    linking = spans.filter(
        pl.col("kind").is_in([Kind.CLIENT, Kind.PRODUCER, Kind.CONSUMER]) & (pl.col("links").list.len() > 0)
    )
    flat = linking.select("tenant", "links", own_id="trace_id").explode("links", keep_nulls=False, empty_as_null=False)
    flat = flat.with_columns(other_id=pl.col("links").struct.field("trace_id")).filter(
        pl.col("other_id").bin.size() == 16
    )  # bytes of a trace id
    own, other = (_trace_keys(flat["tenant"], flat[name]) for name in ("own_id", "other_id"))
    return flat.select("own_id", "other_id", own=own, other=other).filter(pl.col("own") != pl.col("other")).unique()


def _trace_keys(tenants: pl.Series, trace_ids: pl.Series) -> pl.Series:
    if not len(trace_ids):
        return pl.Series(dtype=pl.UInt64)
    return pl.Series(trace_key(tenant_keys(tenants), *halves(trace_ids)))


def _groups(traces: Keys, pairs: Keys) -> pl.Series:
    """The group of linked traces that each trace is in: the place of the smallest one."""
    known, place = np.unique(traces, return_inverse=True)
    left, right = (np.searchsorted(known, pairs[:, side]) for side in (0, 1))
    label = np.arange(len(known))
    while True:
        smallest = np.minimum(label[left], label[right])
        before = label.copy()
        np.minimum.at(label, left, smallest)
        np.minimum.at(label, right, smallest)
        label = label[label]
        if (label == before).all():
            return pl.Series(label[place])


__all__ = ["Shard"]
