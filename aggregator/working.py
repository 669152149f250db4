"""Spans that may still matter, on this machine's disk: those of windows that are not settled, and publish spans for the link horizon.

One part a batch, `NNNNNNNNNN.*`: `rows` (numbers of spans, by trace), `contents` and `ties` (`nexus.model.coded`), `links` (pairs of trace keys) and `samples` (what
the batch changed in the extremes of rows). Numbers are kept as they are in memory, so that a part is looked up in place. A part is durable before the
rows made with it are committed, and counts only if its number is not beyond the committed one: whatever a crash left behind is thrown
away and read from the log again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from aggregator.rollup import SAMPLE_SCHEMA
from nexus.errors import StoreUnavailable
from nexus.model.coded import LINKS, Spans, coded, tenant_keys, together
from nexus.model.keys import U64, Ints, eight, halves, tenant_key, trace_key
from nexus.model.span import Kind
from nexus.model.tables import Sieve, stable_order

# How far links are followed from a touched trace: sender, its other receivers, their other senders, the polls of those.
HOPS: Final = 4
FAN_IN: Final = 8
# Parts are made one in memory.
MAX_PART_SPANS: Final = 1_000_000
SECOND_NS: Final = 1_000_000_000
# `owner`: `tenant_key` of the edge's tenant.
SAMPLES: Final = {"owner": pl.UInt64, **SAMPLE_SCHEMA, "sign": pl.Int64}
# Files of a part, the one that says that it is there last.
_FILES: Final = ("samples", "links", "ties", "contents", "rows")
# Which files a part is of that takes the place of another; there while it does.
_MADE: Final = "made"


@dataclass(slots=True)
class Part:
    """One batch: the trace key of each span, in order (`sieve`: which are none of them), link pairs (from, to) sorted by either side, windows of its samples; spans `held` in memory."""

    seq: int
    traces: U64
    sieve: Sieve
    forward: npt.NDArray[np.uint64]
    backward: npt.NDArray[np.uint64]
    windows: Ints
    held: Spans | None = None

    @property
    def spans(self) -> int:
        """How many."""
        return len(self.traces)


class WorkingSpans:
    """The folder. One writer; beside it one thread may look spans up (`related`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Part] = []
        # Of the batch that is being committed.
        self._held: list[Part] = []
        # Parts do not go while they are looked up.
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def recover(self, seq: int) -> None:
        """Load what was committed up to part `seq`; drop the rest. Nobody may look spans up meanwhile."""
        self._parts, self._held = [], []
        self._tidy()
        numbers = sorted(
            {int(path.name.split(".")[0]) for path in self._folder.iterdir() if path.suffix in {".rows", ".spans"}}
        )
        for number in numbers:
            if number > seq:
                for path in self._folder.glob(f"{number:010}.*"):
                    path.unlink()
                continue
            self._convert(number)
            self._parts.append(self._load(number))

    def _convert(self, seq: int) -> None:
        """A part of the first release, which kept spans as they came."""
        spans, samples = self._path(seq, "spans"), self._path(seq, "samples")
        if not spans.exists():
            return
        if not self._path(seq, "rows").exists():
            old = pl.read_ipc(samples)
            if "trace_id" in old.columns:
                (high, low), shown = halves(old["trace_id"].fill_null(b"\0" * 16)), old["trace_id"].is_not_null()
                ids = [
                    pl.when(shown).then(pl.Series(part)).alias(name)
                    for name, part in (("trace_hi", high), ("trace_lo", low), ("span", eight(old["span_id"])))
                ]
                old = old.with_columns(ids).with_columns(owner=pl.Series(tenant_keys(old["tenant"])))
            self.add(seq, coded(pl.read_ipc(spans)), old.select(list(SAMPLES)).cast(pl.Schema(SAMPLES)))
        for path in (self._path(seq, "traces"), spans):
            path.unlink(missing_ok=True)

    def _path(self, seq: int, what: str) -> Path:
        return self._folder / f"{seq:010}.{what}"

    def _load(self, seq: int) -> Part:
        path = self._path(seq, "links")
        links = np.load(path, mmap_mode="r") if path.exists() else np.empty((0, 2), dtype=np.uint64)
        rows, samples = self._read(seq, "rows"), self._read(seq, "samples")
        return _part(seq, rows["tk"].to_numpy(), links, samples["start"].unique().sort().to_numpy())

    def hold(self, spans: Spans) -> None:
        """From now on `related` finds these spans (in the order of their traces), until the part that they become is accepted."""
        with self._lock:
            self._held = [_part(0, spans.rows["tk"].to_numpy(), link_pairs(spans), np.empty(0, dtype=np.int64), spans)]

    def add(self, seq: int, spans: Spans, samples: pl.DataFrame) -> Part:
        """Write part `seq` durably; `samples` as `SAMPLES`. It counts from `accept` on. StoreUnavailable where the disk is full or fails."""
        try:
            return self._add(seq, spans, samples)
        except OSError as error:
            self._tidy()
            msg = f"the working spans in {self._folder} cannot be written: {error.strerror or error}; nothing is lost: spans wait in the log until there is room"
            raise StoreUnavailable(msg) from error

    def _add(self, seq: int, spans: Spans, samples: pl.DataFrame) -> Part:
        spans = spans.take(stable_order(spans.rows["tk"].to_numpy()))
        pairs = link_pairs(spans)
        made = ["samples", "contents", "rows"]
        self._write(seq, "samples", samples.select(list(SAMPLES)))
        if len(pairs):
            made.append("links")
            with self._new(seq, "links").open("wb") as file:
                np.save(file, pairs)
                _durable(file)
        if spans.links.height:
            made.append("ties")
            self._write(seq, "ties", spans.links)
        self._write(seq, "contents", spans.contents, compression="lz4")
        self._write(seq, "rows", spans.rows)
        self._put(seq, made)
        return _part(seq, self._read(seq, "rows")["tk"].to_numpy(), pairs, samples["start"].unique().sort().to_numpy())

    def _put(self, seq: int, made: list[str]) -> None:
        """Let the files `made` be part `seq`.

        Rows of one and contents of another would be spans that nobody sent: where there is a part already, a crash in between is made good by `recover`.
        """
        if self._path(seq, "rows").exists():
            with self._new(seq, _MADE).open("w", encoding="utf-8") as file:
                file.write(" ".join(made))
                _durable(file)
            self._new(seq, _MADE).rename(self._path(seq, _MADE))
            _sync(self._folder)
        for what in _FILES:
            if what not in made:
                self._path(seq, what).unlink(missing_ok=True)
            elif self._new(seq, what).exists():
                self._new(seq, what).rename(self._path(seq, what))
        _sync(self._folder)
        self._path(seq, _MADE).unlink(missing_ok=True)

    def _tidy(self) -> None:
        """Finish parts whose files were all there when something came in between; drop files of others."""
        for path in sorted(self._folder.glob(f"*.{_MADE}")):
            self._put(int(path.stem), path.read_text(encoding="utf-8").split())
        for path in self._folder.glob("*.new"):
            path.unlink()

    def _new(self, seq: int, what: str) -> Path:
        return self._path(seq, f"{what}.new")

    def _write(
        self, seq: int, what: str, frame: pl.DataFrame, compression: Literal["uncompressed", "lz4"] = "uncompressed"
    ) -> None:
        with self._new(seq, what).open("wb") as file:
            frame.write_ipc(file, compression=compression)
            _durable(file)

    def accept(self, part: Part) -> None:
        """The transaction that used the part is committed. Parts of one size are made one, so that their number grows with the logarithm of the spans."""
        with self._lock:
            self._parts.append(part)
            self._held = []
            # Where there is no room for it they stay as they are, until a later part finds some.
            with suppress(StoreUnavailable):
                while (run := self._run()) is not None:
                    self._merge(run)

    def _merge(self, run: int) -> None:
        parts = self._parts[run:]
        # The last part takes all in, then the others go: a crash in between leaves spans twice, which count once.
        spans = together([self._spans(one) for one in parts])
        merged = self.add(parts[-1].seq, spans, pl.concat([self._read(one.seq, "samples") for one in parts]))
        for one in parts[:-1]:
            self._delete(one.seq)
        self._parts[run:] = [merged]

    def _run(self) -> int | None:
        """Where a run of `FAN_IN` parts of the last one's size begins; None where there is none, or the whole would be too large."""
        tail = self._parts[-FAN_IN:]
        size = _size_class(self._parts[-1].spans)
        if (
            len(tail) < FAN_IN
            or any(_size_class(one.spans) > size for one in tail)
            or sum(one.spans for one in tail) > MAX_PART_SPANS
        ):
            return None
        return len(self._parts) - FAN_IN

    def related(self, new: Spans) -> Spans:
        """All kept spans of the traces of `new` and of traces within `HOPS` links of them."""
        pairs = link_pairs(new)
        wanted = np.union1d(new.rows["tk"].to_numpy(), pairs[:, 1])
        with self._lock:
            return self._of(wanted)

    def _of(self, wanted: U64) -> Spans:
        parts, edge = [*self._parts, *self._held], wanted
        for _ in range(HOPS):
            found = [
                side
                for part in parts
                for side in (_across(part.forward, edge), _across(part.backward, edge))
                if len(side)
            ]
            if not found:
                break
            edge = np.setdiff1d(np.concatenate(found), wanted)
            if not len(edge):
                break
            wanted = np.union1d(wanted, edge)
        # Hours of parts are asked for a batch of traces, most of which are in none.
        return together(
            [
                self._spans(part, places)
                for part in parts
                if len(places := _places(part.traces, wanted[part.sieve.may_hold(wanted)]))
            ]
        )

    def _spans(self, part: Part, places: npt.NDArray[np.uint32] | None = None) -> Spans:
        """The spans of a part, or those at `places`."""
        spans, seq = part.held, part.seq
        if spans is None:
            ties = self._read(seq, "ties") if self._path(seq, "ties").exists() else pl.DataFrame(schema=LINKS)
            spans = Spans(self._read(seq, "rows"), self._read(seq, "contents"), ties)
        return spans if places is None else spans.take(places)

    def _read(self, seq: int, what: str) -> pl.DataFrame:
        try:
            # Mapped, not read: most of a part is never looked at.
            with pa.memory_map(str(self._path(seq, what))) as file:
                table = pa.ipc.open_file(file).read_all()
        except OSError as error:
            msg = f"the working spans in {self._folder} cannot be read: {error}"
            raise StoreUnavailable(msg) from error
        found = pl.from_arrow(table)
        assert isinstance(found, pl.DataFrame)
        return found

    def compact(self, keep: Callable[[Spans], npt.NDArray[np.bool_]], open_windows: dict[str, set[int]]) -> None:
        """Rewrite parts with the spans that `keep` flags and the samples of open windows; a part without either is deleted."""
        opened = pl.DataFrame(
            [(tenant_key(tenant), start * SECOND_NS) for tenant, starts in open_windows.items() for start in starts],
            schema={"owner": pl.UInt64, "start": pl.Int64},
            orient="row",
        )
        with self._lock:
            left: list[Part] = []
            for part in self._parts:
                spans, samples = self._spans(part), self._read(part.seq, "samples")
                kept, standing = keep(spans), samples.join(opened, on=["owner", "start"], how="semi")
                if not kept.any() and not standing.height:
                    self._delete(part.seq)
                    continue
                left.append(part)
                if not kept.all() or standing.height < samples.height:
                    # Where there is no room for less beside it, it stays as it is.
                    with suppress(StoreUnavailable):
                        left[-1] = self.add(part.seq, spans.where(kept), standing)
            self._parts = left

    def _delete(self, seq: int) -> None:
        # A part without rows is not there.
        for what in reversed(_FILES):
            self._path(seq, what).unlink(missing_ok=True)

    def size(self) -> tuple[int, int]:
        """Parts and bytes on disk."""
        return len(self._parts), sum(path.stat().st_size for path in self._folder.iterdir())

    def all_spans(self) -> Spans:
        """Every kept span."""
        return together([self._spans(part) for part in self._parts])

    def samples(self, rows: pl.DataFrame, more: list[pl.DataFrame]) -> pl.DataFrame:
        """Samples of the facts that stand in `rows` (`edge`, `start` ns), with those of a part that is not accepted yet (`more`)."""
        windows = rows["start"].unique().to_numpy()
        read = [self._read(part.seq, "samples") for part in self._parts if np.isin(part.windows, windows).any()]
        parts = [part.join(rows, on=["edge", "start"], how="semi") for part in (*more, *read)]
        found = pl.concat(parts) if parts else pl.DataFrame(schema=SAMPLES)
        return (
            found.group_by([name for name in SAMPLES if name != "sign"])
            .agg(pl.col("sign").sum())
            .filter(pl.col("sign") > 0)
        )


def link_pairs(spans: Spans) -> npt.NDArray[np.uint64]:
    """Distinct (trace, linked trace) of spans that may tie messages."""
    links = spans.links.filter(pl.col("trace_id").bin.size() == 16)  # bytes of a trace id
    if not links.height:
        return np.empty((0, 2), dtype=np.uint64)
    content = spans.rows["content"].gather(links["at"])
    ties = spans.contents["kind"].is_in([Kind.CLIENT, Kind.PRODUCER, Kind.CONSUMER]).gather(content).to_numpy()
    own = spans.rows["tk"].gather(links["at"]).to_numpy()
    other = trace_key(tenant_keys(spans.contents["tenant"].gather(content)), *halves(links["trace_id"]))
    return np.unique(np.column_stack([own, other])[ties & (own != other)], axis=0)


def _part(seq: int, traces: U64, links: npt.NDArray[np.uint64], windows: Ints, held: Spans | None = None) -> Part:
    forward = links[np.argsort(links[:, 0], kind="stable")]
    backward = links[np.argsort(links[:, 1], kind="stable")][:, ::-1]
    distinct = traces[np.flatnonzero(np.diff(traces, prepend=~traces[:1]))]
    return Part(seq, traces, Sieve(distinct), forward, backward, windows, held)


def _places(traces: U64, wanted: U64) -> npt.NDArray[np.uint32]:
    """Where sorted `traces` are among the `wanted` (sorted)."""
    begin = np.searchsorted(traces, wanted, side="left")
    counts = np.searchsorted(traces, wanted, side="right") - begin
    begin, counts = begin[counts > 0], counts[counts > 0]
    return (np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())).astype(np.uint32)


def _size_class(spans: int) -> int:
    return max(0, spans // 1000).bit_length() // 3


def _across(pairs: npt.NDArray[np.uint64], edge: U64) -> U64:
    """What `edge` is linked to; `pairs` sorted by their first column."""
    if not len(pairs) or not len(edge):
        return np.empty(0, dtype=np.uint64)
    return np.unique(pairs[_places(pairs[:, 0], edge), 1])


def _durable(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


__all__ = ["Part", "WorkingSpans", "link_pairs"]
