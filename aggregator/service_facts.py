"""What each span says of its own service: the counters of observed-edges.md section 5 as facts. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.clients import Clients, with_rank
from aggregator.consuming import Consumed
from aggregator.facts import Facts
from aggregator.steps import Steps
from nexus.model.keys import gathered, mixed
from nexus.model.span import Kind
from nexus.model.tables import encoded

COUNTERS: Final = (
    "spans",
    "entry_spans",
    "root_servers",
    "orphan_servers",
    "orphan_consumers",
    "unresolved_links",
    "exits_paired",
    "exits_by_attribute",
    "unpaired_clients",
    "nested_clients",
    "beyond_horizon",
    "bad_parents",
    "conflicting_duplicates",
    "spans_sampling_known",
    "clock_suspect",
)
EXITS: Final = ("exits_paired", "exits_by_attribute", "unpaired_clients")
_OWN: Final = ("tenant", "label", "env", "service_version", "instance", "p")


@dataclass(frozen=True, slots=True)
class Exits:
    """What became of exits: `paired`, `by_attribute`, `unpaired` and `nested` rows, those to `infrastructure`, and `protocols` (`row`, `protocol`)."""

    paired: npt.NDArray[Any]
    by_attribute: npt.NDArray[Any]
    unpaired: npt.NDArray[Any]
    nested: npt.NDArray[Any]
    infrastructure: npt.NDArray[Any]
    protocols: pl.DataFrame


def exits(
    spans: Steps, table: Clients, lonely: pl.DataFrame, found: pl.DataFrame, published: pl.DataFrame, ties: pl.DataFrame
) -> Exits:
    """Exits by clients (`table`, those without a far end in `lonely`) and by publish spans that were on the wire."""
    clients = table.rows
    reached = clients.filter(pl.col("matched") | pl.col("inferred").is_not_null())["row"]
    delivered = published.join(ties.select(row="producer").unique(), on="row", how="semi")["head"].unique()
    heads = published.filter(pl.col("row") == pl.col("head")).select(
        "row", paired=pl.col("row").is_in(delivered.implode()), named=pl.col("topic").is_not_null()
    )
    sent = ~pl.col("paired")
    return Exits(
        np.concatenate([reached.to_numpy(), heads.filter("paired")["row"].to_numpy()]),
        np.concatenate(
            [lonely.filter("known")["row"].to_numpy(), heads.filter(sent & pl.col("named"))["row"].to_numpy()]
        ),
        np.concatenate(
            [lonely.filter(~pl.col("known"))["row"].to_numpy(), heads.filter(sent & ~pl.col("named"))["row"].to_numpy()]
        ),
        clients.filter(~pl.col("counted"))["row"].to_numpy(),
        clients.filter(table.said["infrastructure"].gather(clients["said"]))["row"].to_numpy(),
        _protocols(spans, table, found, published),
    )


def _protocols(spans: Steps, table: Clients, found: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """`row` -> `protocol` of exits: clients by what they, the spans around them and the answering server say; publish spans by their system."""
    stated = with_rank(spans.contents.select("family", "database"))
    own_rank = np.full(spans.rows.height, -1, dtype=np.int8)
    own_rank[table.rows["row"].to_numpy()] = table.said["rank"].to_numpy()[table.rows["said"].to_numpy()]
    child, parent = found["row"].to_numpy(), found["parent"].to_numpy()
    content, kind = spans.array("content")[child], spans.array("kind")[child]
    rank = stated["rank"].to_numpy()[content]
    # An answer counts where it is more specific than what the client says; 6 is nothing.
    tells = (rank < own_rank[parent]) & (kind != Kind.CLIENT) & (kind != Kind.PRODUCER)
    told = pl.DataFrame(
        {
            "row": parent[tells].astype(np.uint32),
            "rank": rank[tells],
            "child": child[tells],
            "told": stated["family"].gather(content[tells]),
        }
    )
    told = told.sort("row", "rank", "child").unique("row", keep="first", maintain_order=True).select("row", "told")
    calls = table.rows.select("row", own=table.said["family"].gather(table.rows["said"])).join(
        told, on="row", how="left", maintain_order="left"
    )
    sent = published.select("row", protocol=pl.coalesce(spans.said("family", published["row"]), pl.col("system")))
    return pl.concat([calls.select("row", protocol=pl.coalesce("told", "own")), sent])


def service_facts(spans: Steps, roots: pl.DataFrame, consumed: Consumed, out: Exits) -> Facts:
    """One fact a span; `roots`: root servers with `caller`.

    Classes: `tenant`, `label`, `env`, the counters, `protocol` of an exit (null else), `infrastructure` (bool, of exits), `version`, `instance`, `p`; single: `fact`, `tk`, `at_ns`.
    """
    kind, content, has_parent, seen = (
        spans.array("kind"),
        spans.array("content"),
        spans.array("has_parent"),
        spans.array("seen"),
    )
    server = kind == Kind.SERVER
    counts: dict[str, npt.NDArray[Any]] = {
        "entry_spans": ~has_parent
        | spans.array("crossing")
        | spans.array("self_consume")
        | ((server | (kind == Kind.CONSUMER)) & ~seen),
        "orphan_servers": server & has_parent & ~seen,
        "beyond_horizon": spans.array("beyond").astype(np.int64),
        "bad_parents": spans.array("bad_parent"),
        "conflicting_duplicates": spans.array("conflicts"),
        "clock_suspect": spans.array("suspect"),
    }
    size = len(kind)
    for name, rows in (
        ("root_servers", roots.filter(pl.col("caller").is_null())["row"]),
        ("exits_paired", out.paired),
        ("exits_by_attribute", out.by_attribute),
        ("unpaired_clients", out.unpaired),
        ("nested_clients", out.nested),
        ("orphan_consumers", consumed.lost.filter("orphan")["row"]),
    ):
        counts[name] = np.zeros(size, dtype=bool)
        counts[name][np.asarray(rows)] = True
    counts["unresolved_links"] = np.zeros(size, dtype=np.int64)
    lost = consumed.lost["row"].to_numpy()
    counts["unresolved_links"][lost] = consumed.lost["unseen"].to_numpy()
    counts["beyond_horizon"][lost] += consumed.lost["far"].to_numpy()
    # What classes differ in, as one number: who, flags and counts, protocol.
    protocol, protocols = encoded(out.protocols["protocol"].fill_null("unknown").hash().to_numpy())
    code = np.zeros(size, dtype=np.uint32)
    code[out.protocols["row"].to_numpy()] = protocol + 1
    code[~(counts["exits_paired"] | counts["exits_by_attribute"] | counts["unpaired_clients"])] = 0
    who, first_of = encoded(mixed([spans.contents[name] for name in _OWN]))
    flags = np.zeros(size, dtype=np.uint64)
    for place, name in enumerate(sorted(name for name in counts if counts[name].dtype == bool)):
        flags |= counts[name].astype(np.uint64) << np.uint64(place)
    infrastructure = np.zeros(size, dtype=bool)
    infrastructure[out.infrastructure] = True
    numbers = [
        pl.Series(who[content]),
        pl.Series(flags),
        pl.Series(infrastructure),
        pl.Series(code),
        *(pl.Series(counts[name]) for name in sorted(counts) if counts[name].dtype != bool),
    ]
    fact, first = encoded(mixed(numbers))
    own = spans.contents.select(pl.col(*_OWN).gather(first_of[who[content[first]]])).rename(
        {"service_version": "version"}
    )
    names = out.protocols["protocol"].fill_null("unknown").gather(protocols)
    classes = own.with_columns(
        *[pl.Series(name, counts[name][first].astype(np.int64)) for name in counts],
        spans=pl.lit(1, pl.Int64),
        spans_sampling_known=pl.col("p").is_not_null().cast(pl.Int64),
        protocol=gathered(names, code[first].astype(np.int64) - 1),
        infrastructure=pl.Series(infrastructure[first]),
    )
    single = spans.rows.select("tk", at_ns="start_ns", fact=pl.Series(fact))
    return Facts(
        classes.select("tenant", "label", "env", *COUNTERS, "protocol", "infrastructure", "version", "instance", "p"),
        single,
    )


__all__ = ["COUNTERS", "EXITS", "Exits", "exits", "service_facts"]
