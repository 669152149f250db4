"""Spans in three parts: `rows`, the numbers of each span; `contents`, the distinct things that they say; `links`. Pure.

Ids and times differ from span to span, what a span says repeats: names, resources and attributes are read, compared and kept once
a distinct content, and a span is some sixty bytes of numbers.

- `rows`: `tk` (key of the trace), `key` (of trace and span id), `trace_hi`, `trace_lo`, `span`, `parent` (ids as numbers; null = no parent, or one of another
  length), `start_ns`, `end_ns`, `content` (row of `contents`).
- `contents`: what `SPAN_SCHEMA` says beside ids, times and links; `odd_parent`, a parent id of a wrong length; `hash`, one number a content.
- `links`: `at` (row of `rows`), `trace_id`, `span_id`, in the order of the span.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from nexus.model.keys import BEFORE, U64, binary, eight, halves, mix, mixed, span_key, tenant_key, trace_key
from nexus.model.span import KEY_VALUE, SPAN_SCHEMA, Kind, Status
from nexus.model.tables import encoded

ROWS: Final[dict[str, Any]] = {
    "tk": pl.UInt64,
    "key": pl.UInt64,
    "trace_hi": pl.UInt64,
    "trace_lo": pl.UInt64,
    "span": pl.UInt64,
    "parent": pl.UInt64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "content": pl.UInt32,
}
_IDS: Final = ("trace_id", "span_id", "parent_id", "start_ns", "end_ns", "links")
SAID: Final = tuple(name for name in SPAN_SCHEMA if name not in _IDS)
CONTENTS: Final[dict[str, Any]] = {
    **{name: SPAN_SCHEMA[name] for name in SAID},
    "odd_parent": pl.Binary(),
    "hash": pl.UInt64(),
}
LINKS: Final[dict[str, Any]] = {"at": pl.UInt32, "trace_id": pl.Binary, "span_id": pl.Binary}


@dataclass(frozen=True, slots=True)
class Spans:
    """See the module's docstring."""

    rows: pl.DataFrame
    contents: pl.DataFrame
    links: pl.DataFrame

    @property
    def height(self) -> int:
        """How many."""
        return self.rows.height

    def said(self, name: str) -> pl.Series:
        """A column of the contents, for each span."""
        return self.contents[name].gather(self.rows["content"])

    def take(self, index: npt.NDArray[Any]) -> Spans:
        """The spans at `index` (distinct, in any order), with no contents beside theirs."""
        rows = (
            self.rows[index]
            if len(index) != self.height or not np.array_equal(index, np.arange(self.height))
            else self.rows
        )
        used = np.zeros(self.contents.height, dtype=bool)
        used[rows["content"].to_numpy()] = True
        place = np.cumsum(used, dtype=np.uint32) - np.uint32(1)
        links = self.links
        if links.height:
            moved = pl.DataFrame({"at": np.asarray(index, dtype=np.uint32)}).with_row_index("to")
            links = links.join(moved, on="at", maintain_order="left").select(
                at="to", trace_id="trace_id", span_id="span_id"
            )
        return Spans(
            rows.with_columns(content=pl.Series(place[rows["content"].to_numpy()])),
            self.contents.filter(pl.Series(used)),
            links,
        )

    def frame(self) -> pl.DataFrame:
        """The spans as they came (`SPAN_SCHEMA`)."""
        links = self.links.group_by("at", maintain_order=True).agg(links=pl.struct("trace_id", "span_id"))
        said = self.contents.select(pl.all().gather(self.rows["content"]))
        ids = pl.DataFrame(
            [
                binary(self.rows["trace_hi"], self.rows["trace_lo"]).alias("trace_id"),
                binary(self.rows["span"]).alias("span_id"),
                pl.select(
                    pl.coalesce(
                        said["odd_parent"],
                        pl.when(self.rows["parent"].is_not_null()).then(binary(self.rows["parent"].fill_null(0))),
                        pl.lit(b""),
                    )
                )
                .to_series()
                .alias("parent_id"),
            ]
        )
        frame = pl.concat(
            [self.rows.select("start_ns", "end_ns").with_row_index("at"), ids, said.drop("odd_parent", "hash")],
            how="horizontal",
        )
        return (
            frame.join(links, on="at", how="left", maintain_order="left")
            .with_columns(pl.col("links").fill_null([]))
            .select(list(SPAN_SCHEMA))
        )

    def as_before(self) -> Spans:
        """The same spans in traces of their own, marked with `BEFORE`."""
        tk = self.rows["tk"].to_numpy() | BEFORE
        return Spans(
            self.rows.with_columns(tk=pl.Series(tk), key=pl.Series(span_key(tk, self.rows["span"].to_numpy()))),
            self.contents,
            self.links,
        )

    def where(self, wanted: npt.NDArray[np.bool_]) -> Spans:
        """The spans with the flag."""
        return self if wanted.all() else self.take(np.flatnonzero(wanted))


def no_spans() -> Spans:
    """None."""
    return Spans(pl.DataFrame(schema=ROWS), pl.DataFrame(schema=CONTENTS), pl.DataFrame(schema=LINKS))


def coded(received: pl.DataFrame) -> Spans:
    """A frame of `SPAN_SCHEMA` (any tenants) in parts. ValueError where ids are of other lengths: the door rejects those."""
    if not received.height:
        return no_spans()
    parent = eight(received["parent_id"])
    odd = received.select(
        pl.when((pl.col("parent_id").bin.size() > 0) & pl.lit(parent).is_null()).then("parent_id").alias("odd_parent")
    ).to_series()
    simple = [received[name] for name in SAID if name != "attributes"]
    pairs = received["attributes"].explode(empty_as_null=False, keep_nulls=False).struct
    attributes = listed(
        [pairs.field("key"), pairs.field("value")], received["attributes"].list.len().fill_null(0).to_numpy()
    )
    linking = np.flatnonzero(received["links"].list.len().fill_null(0).to_numpy()).astype(np.uint32)
    whole = received.select((pl.col("trace_id").bin.size() == 16) & (pl.col("span_id").bin.size() == 8)).to_series()
    if whole.sum() < received.height:
        msg = f"{received.height - whole.sum():,} spans have no trace id of 16 bytes and span id of 8"
        raise ValueError(msg)
    hi, lo = halves(received["trace_id"])
    rows = received.select("start_ns", "end_ns").with_columns(
        trace_hi=pl.Series(hi), trace_lo=pl.Series(lo), span=eight(received["span_id"]), parent=parent
    )
    contents = received.with_columns(
        kind=pl.when(pl.col("kind") > Kind.CONSUMER).then(0).otherwise(pl.col("kind")).cast(pl.UInt8),
        status=pl.when(pl.col("status") > Status.ERROR).then(0).otherwise(pl.col("status")).cast(pl.UInt8),
        odd_parent=odd,
    ).select(*SAID, "odd_parent")
    return assembled(
        mixed([*simple, odd, attributes]),
        tenant_keys(received["tenant"]),
        np.arange(received.height, dtype=np.uint32),
        lambda index: contents[index],
        rows,
        _links(linking, received["links"].gather(linking)),
    )


def assembled(
    number: U64,
    tenant: U64,
    content: npt.NDArray[np.uint32],
    contents: Callable[[npt.NDArray[np.uint32]], pl.DataFrame],
    rows: pl.DataFrame,
    links: pl.DataFrame,
) -> Spans:
    """Spans of what they say, which may come several times: a `number` of each content and the `tenant_key` of its tenant.

    `content`: which one each span says. `contents` gives some of them as a frame of `CONTENTS` without `hash`. `rows` has the ids and times of `ROWS`; `links` is as in `Spans`.
    """
    codes, first = _codes(number, tenant)
    tk = trace_key(tenant[content], rows["trace_hi"].to_numpy(), rows["trace_lo"].to_numpy())
    found = rows.with_columns(
        tk=pl.Series(tk), key=pl.Series(span_key(tk, rows["span"].to_numpy())), content=pl.Series(codes[content])
    )
    return Spans(
        found.select(pl.col(name).cast(kind) for name, kind in ROWS.items()),
        contents(first).with_columns(hash=pl.Series(number[first])).select(list(CONTENTS)),
        links,
    )


def _codes(number: U64, tenant: U64) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    codes, first = encoded(number)
    if (tenant != tenant[0]).any():
        # Contents are told apart by a hash: whoever makes two of them equal must not speak for another tenant.
        owner, owners = encoded(tenant)
        codes, first = encoded(codes.astype(np.uint64) * np.uint64(len(owners)) + owner)
    return codes, first


def tenant_keys(tenants: pl.Series) -> U64:
    """`tenant_key` of each."""
    distinct = tenants.unique()
    if len(distinct) == 1:
        return np.full(len(tenants), tenant_key(distinct[0]), dtype=np.uint64)
    return tenants.replace_strict({name: tenant_key(name) for name in distinct}, return_dtype=pl.UInt64).to_numpy()


def listed(items: Sequence[pl.Series], sizes: npt.NDArray[Any]) -> pl.Series:
    """One number a list, of the columns of their items; `sizes`: how many items each list has."""
    sizes = sizes.astype(np.int64)
    ends = np.cumsum(sizes)
    # A key may come twice, and the last counts: their order is part of the number.
    place = np.arange(len(items[0]), dtype=np.int64) - np.repeat(ends - sizes, sizes)
    sums = np.concatenate(
        [np.zeros(1, dtype=np.uint64), np.cumsum(mix(mixed(items) + place.astype(np.uint64)), dtype=np.uint64)]
    )
    return pl.Series(sums[ends] - sums[ends - sizes] + sizes.astype(np.uint64))


def _links(rows: npt.NDArray[np.uint32], links: pl.Series) -> pl.DataFrame:
    if not len(rows):
        return pl.DataFrame(schema=LINKS)
    some = pl.DataFrame({"at": rows, "link": links}).explode("link", empty_as_null=False, keep_nulls=False)
    return some.select("at", pl.col("link").struct.field("trace_id", "span_id"))


def together(parts: Sequence[Spans]) -> Spans:
    """Several sets of spans as one, in their order."""
    parts = [part for part in parts if part.height]
    if len(parts) < 2:
        return parts[0] if parts else no_spans()
    contents = pl.concat([part.contents for part in parts])
    codes, first = _codes(contents["hash"].to_numpy(), tenant_keys(contents["tenant"]))
    rows, links, at, said = [], [], 0, 0
    for part in parts:
        rows.append(
            part.rows.with_columns(
                content=pl.Series(codes[said : said + part.contents.height]).gather(part.rows["content"])
            )
        )
        links.append(part.links.with_columns(pl.col("at") + at))
        at, said = at + part.height, said + part.contents.height
    return Spans(pl.concat(rows), contents[first], pl.concat(links))


def canonical(spans: Spans, index: npt.NDArray[np.uint32]) -> pl.DataFrame:
    """One text a content of the spans at `index` (ids of the span apart), with what decides between several: `at`, `end_ns`, `attribute_count`, `canonical`."""
    rows = spans.rows[index]
    links = (
        spans.links.filter(pl.col("at").is_in(pl.Series(index).implode()))
        .group_by("at", maintain_order=True)
        .agg(
            links=(pl.col("trace_id").bin.encode("hex") + pl.col("span_id").bin.encode("hex")).str.join(","),
        )
    )
    said = spans.contents.select(pl.all().gather(rows["content"]))
    frame = pl.concat(
        [pl.DataFrame({"at": index}), rows.select("parent", "start_ns", "end_ns"), said], how="horizontal"
    ).join(links, on="at", how="left", maintain_order="left")
    attributes = (
        pl.col("attributes")
        .cast(pl.List(KEY_VALUE))
        .list.eval(pl.element().struct.json_encode())
        .list.sort()
        .list.join(",")
        .fill_null("")
    )
    texts = [
        "environment",
        "instance",
        "name",
        "service_name",
        "service_namespace",
        "service_version",
        "status_message",
        "trace_state",
    ]
    numbers = ["kind", "end_ns", "flags", "start_ns", "status", "attribute_count", "source_probability"]
    parent = pl.coalesce(
        pl.col("odd_parent").bin.encode("hex"), pl.col("parent").cast(pl.Int128).cast(pl.String), pl.lit("")
    )
    return frame.select(
        "at",
        "end_ns",
        "attribute_count",
        canonical=pl.concat_str(
            attributes,
            pl.col("links").fill_null(""),
            pl.col("name").fill_null(""),
            parent,
            pl.struct(texts).struct.json_encode(),
            pl.struct(numbers).struct.json_encode(),
            separator="\x1f",
        ),
    )
