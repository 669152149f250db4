"""Hosts that spans name: one spelling, and whether it is a name or an address. Pure."""

from __future__ import annotations

from typing import Final

import polars as pl

_IPV4: Final = r"^\d{1,3}(\.\d{1,3}){3}$"
# Kubernetes' names of pods are their addresses with dashes.
_POD: Final = r"^[0-9a-f]*(-[0-9a-f]*){3,7}\.[^.]+\.pod(\.|$)"


def named_host(key: str) -> pl.Expr:
    """The host that an attribute names."""
    raw = pl.col(key).str.strip_chars()
    return _host(
        raw.str.extract(r"^[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)", 1) if key in {"url.full", "http.url"} else raw
    )


def _host(raw: pl.Expr) -> pl.Expr:
    """Lower case, without scheme, user, port, brackets, zone and final dot; null where nothing is left. A socket path stays as it is."""
    socket = raw.str.starts_with("/") | raw.str.starts_with("unix:") | raw.str.starts_with("@")
    # A gRPC target has an empty authority: dns:///cart:7070.
    host = (
        raw.str.replace(r"^[A-Za-z][A-Za-z0-9+.-]*:///?", "")
        .str.extract(r"^([^/?#]*)", 1)
        .str.extract(r"([^@]*)$", 1)
        .str.to_lowercase()
    )
    bracketed = host.str.extract(r"^\[([^\]]*)\]", 1)
    host = pl.coalesce(
        bracketed,
        pl.when(host.str.count_matches(":", literal=True) > 1).then(host).otherwise(host.str.replace(r":\d*$", "")),
    )
    host = host.str.replace(r"%.*$", "").str.strip_chars_end(".").str.strip_chars()
    return pl.when(socket).then(raw).otherwise(pl.when(host != "").then(host))


def is_address(host: pl.Expr) -> pl.Expr:
    """Whether a normalised host names nobody: an IP address, the name of a pod that is one, localhost, a socket path."""
    return (
        host.str.contains(_IPV4)
        | host.str.contains(_POD)
        | host.str.contains(r"[:/]")
        | (host == "localhost")
        | host.str.ends_with(".localhost")
        | host.str.starts_with("@")
    )


def host_name(column: str) -> pl.Expr:
    """Those that name somebody. Needs `own`, the name of the service, and `database`."""
    # Never the caller itself; a database may well have the name of the service that speaks for it.
    return pl.when(~is_address(pl.col(column)) & (pl.col("database") | pl.col(column).ne_missing(pl.col("own")))).then(
        pl.col(column)
    )


def host_address(column: str) -> pl.Expr:
    """Those that do not."""
    return pl.when(is_address(pl.col(column))).then(pl.col(column))
