"""Spans that may still matter, on this machine's disk: those of windows that are not settled, and publish spans for the link horizon.

One part a batch: `NNNNNNNNNN.spans` (Arrow IPC), `.traces` (trace keys), `.links` (pairs of trace keys) and `.samples` (what the batch
changed in the extremes of rows). A part is durable before the rows made with it are committed, and counts only if its number is not
beyond the committed one: whatever a crash left behind is thrown away and read from the log again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.prepare import trace_key
from aggregator.rollup import SAMPLE_SCHEMA
from nexus.errors import StoreUnavailable
from nexus.model.span import SPAN_SCHEMA, Kind, empty_spans

# How far links are followed from a touched trace: sender, its other receivers, their other senders, the polls of those.
HOPS: Final = 4
FAN_IN: Final = 8
MAX_PART_SPANS: Final = 4_000_000
SECOND_NS: Final = 1_000_000_000
SAMPLES: Final = {"tenant": pl.String, **SAMPLE_SCHEMA, "sign": pl.Int64}
Keys = npt.NDArray[np.uint64]


@dataclass(slots=True)
class Part:
    """One batch: sorted trace keys, and link pairs (from, to) sorted by either side."""

    seq: int
    spans: int
    traces: Keys
    forward: npt.NDArray[np.uint64]
    backward: npt.NDArray[np.uint64]


class WorkingSpans:
    """The folder. One writer; not thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Part] = []
        folder.mkdir(parents=True, exist_ok=True)

    def recover(self, seq: int) -> None:
        """Load what was committed up to part `seq`; drop the rest."""
        self._parts = []
        numbers = sorted({int(path.name.split(".")[0]) for path in self._folder.glob("*.spans")})
        for number in numbers:
            if number > seq:
                for path in self._folder.glob(f"{number:010}.*"):
                    path.unlink()
                continue
            self._parts.append(self._load(number))

    def _path(self, seq: int, what: str) -> Path:
        return self._folder / f"{seq:010}.{what}"

    def _load(self, seq: int) -> Part:
        links = np.load(self._path(seq, "links"), mmap_mode="r") if self._path(seq, "links").exists() else np.empty((0, 2), dtype=np.uint64)
        height = pl.scan_ipc(self._path(seq, "spans")).select(pl.len()).collect().item()
        return _part(seq, height, np.load(self._path(seq, "traces"), mmap_mode="r"), links)

    def add(self, seq: int, spans: pl.DataFrame, samples: pl.DataFrame) -> Part:
        """Write part `seq` durably; `samples` have `tenant`. It counts from `accept` on."""
        traces = np.unique(spans.select(trace_key()).to_series().to_numpy())
        links = link_pairs(spans)
        self._write(seq, "samples", samples.select(list(SAMPLES)))
        np.save(_named(self._path(seq, "links")), links)
        np.save(_named(self._path(seq, "traces")), traces)
        for what in ("links", "traces"):
            _named(self._path(seq, what)).rename(self._path(seq, what))
        self._write(seq, "spans", spans)
        _sync(self._folder)
        return self._load(seq)

    def _write(self, seq: int, what: str, frame: pl.DataFrame) -> None:
        path = self._path(seq, what)
        new = path.with_suffix(f"{path.suffix}.new")
        with new.open("wb") as file:
            frame.write_ipc(file, compression="lz4")
            file.flush()
            os.fsync(file.fileno())
        new.rename(path)

    def accept(self, part: Part) -> None:
        """The transaction that used the part is committed. Parts of one size are made one, so that their number grows with the logarithm of the spans."""
        self._parts.append(part)
        while (run := self._run()) is not None:
            parts = self._parts[run:]
            # The last part takes all in, then the others go: a crash in between leaves spans twice, which count once.
            spans = pl.concat([self._read(one.seq, "spans") for one in parts])
            merged = self.add(part.seq, spans, pl.concat([self._read(one.seq, "samples") for one in parts]))
            for one in parts[:-1]:
                self._delete(one.seq)
            self._parts[run:] = [merged]

    def _run(self) -> int | None:
        """Where a run of `FAN_IN` parts of the last one's size begins; None where there is none, or the whole would be too large."""
        tail = self._parts[-FAN_IN:]
        size = _size_class(self._parts[-1].spans)
        if len(tail) < FAN_IN or any(_size_class(one.spans) > size for one in tail) or sum(one.spans for one in tail) > MAX_PART_SPANS:
            return None
        return len(self._parts) - FAN_IN

    def related(self, new: pl.DataFrame) -> pl.DataFrame:
        """All kept spans of the traces of `new` and of traces within `HOPS` links of them."""
        pairs = link_pairs(new)
        wanted = edge = np.union1d(new.select(trace_key()).to_series().to_numpy(), pairs[:, 1])
        for _ in range(HOPS):
            found = [side for part in self._parts for side in (_across(part.forward, edge), _across(part.backward, edge)) if len(side)]
            if not found:
                break
            edge = np.setdiff1d(np.concatenate(found), wanted)
            if not len(edge):
                break
            wanted = np.union1d(wanted, edge)
        keys = pl.Series(wanted).implode()
        holding = [part for part in self._parts if len(np.intersect1d(part.traces, wanted, assume_unique=True))]
        frames = [self._read(part.seq, "spans").filter(trace_key().is_in(keys)) for part in holding]
        return pl.concat(frames) if frames else empty_spans()

    def _read(self, seq: int, what: str) -> pl.DataFrame:
        try:
            return pl.read_ipc(self._path(seq, what))
        except OSError as error:
            msg = f"the working spans in {self._folder} cannot be read: {error}"
            raise StoreUnavailable(msg) from error

    def compact(self, keep: Callable[[pl.DataFrame], pl.DataFrame], open_windows: dict[str, set[int]]) -> None:
        """Rewrite parts with the spans that `keep` leaves and the samples of open windows; a part without either is deleted."""
        opened = pl.DataFrame(
            [(tenant, start * SECOND_NS) for tenant, starts in open_windows.items() for start in starts], schema={"tenant": pl.String, "start": pl.Int64}, orient="row",
        )
        left: list[Part] = []
        for part in self._parts:
            spans, samples = self._read(part.seq, "spans"), self._read(part.seq, "samples")
            kept, standing = keep(spans), samples.join(opened, on=["tenant", "start"], how="semi")
            if kept.height or standing.height:
                left.append(part if kept.height == spans.height and standing.height == samples.height else self.add(part.seq, kept, standing))
            else:
                self._delete(part.seq)
        self._parts = left

    def _delete(self, seq: int) -> None:
        # Spans last: a part without them is not there.
        for what in ("samples", "links", "traces", "spans"):
            self._path(seq, what).unlink(missing_ok=True)

    def size(self) -> tuple[int, int]:
        """Parts and bytes on disk."""
        return len(self._parts), sum(path.stat().st_size for path in self._folder.iterdir())

    def all_spans(self) -> pl.DataFrame:
        """Every kept span."""
        frames = [self._read(part.seq, "spans") for part in self._parts]
        return pl.concat(frames) if frames else empty_spans()

    def samples(self, rows: pl.DataFrame, more: list[pl.DataFrame]) -> pl.DataFrame:
        """Samples of the facts that stand in `rows` (`tenant`, `edge`, `start` ns), with those of a part that is not accepted yet (`more`)."""
        parts = [part.select(list(SAMPLES)).join(rows, on=["tenant", "edge", "start"], how="semi") for part in more]
        parts += [self._read(part.seq, "samples").join(rows, on=["tenant", "edge", "start"], how="semi") for part in self._parts]
        found = pl.concat(parts) if parts else pl.DataFrame(schema=SAMPLES)
        return found.group_by([name for name in SAMPLES if name != "sign"]).agg(pl.col("sign").sum()).filter(pl.col("sign") > 0)


def link_pairs(spans: pl.DataFrame) -> npt.NDArray[np.uint64]:
    """Distinct (trace, linked trace) of spans that may tie messages."""
    linking = spans.filter(pl.col("kind").is_in([Kind.CLIENT, Kind.PRODUCER, Kind.CONSUMER]) & (pl.col("links").list.len() > 0))
    if not linking.height:
        return np.empty((0, 2), dtype=np.uint64)
    flat = linking.select("tenant", own=trace_key(), links="links").explode("links", keep_nulls=False, empty_as_null=False)
    flat = flat.select("tenant", "own", trace_id=pl.col("links").struct.field("trace_id"))
    pairs = flat.select("own", other=trace_key()).filter(pl.col("own") != pl.col("other")).unique()
    return np.column_stack([pairs["own"].to_numpy(), pairs["other"].to_numpy()]).astype(np.uint64)


def _part(seq: int, spans: int, traces: Keys, links: npt.NDArray[np.uint64]) -> Part:
    forward = links[np.argsort(links[:, 0], kind="stable")]
    backward = links[np.argsort(links[:, 1], kind="stable")][:, ::-1]
    return Part(seq, spans, traces, forward, backward)


def _size_class(spans: int) -> int:
    return max(0, spans // 1000).bit_length() // 3


def _across(pairs: npt.NDArray[np.uint64], edge: Keys) -> Keys:
    """What `edge` is linked to; `pairs` sorted by their first column."""
    if not len(pairs) or not len(edge):
        return np.empty(0, dtype=np.uint64)
    first = pairs[:, 0]
    return np.unique(pairs[np.isin(first, edge), 1])


def _named(path: Path) -> Path:
    return path.with_suffix(f"{path.suffix}.npy")


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


__all__ = ["SPAN_SCHEMA", "Part", "WorkingSpans", "link_pairs"]
