"""Spelling of names: what two spellings have in common, and how far that may go. Pure.

A name has several keys, from strict to loose; a look-up takes the first key that anything answers to, so that `order`
and `order-service` stay two things where both exist, while `Order Service` finds `order` where only that does.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# camelCase, snake_case, kebab-case, digits and Hangul, as words.
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[가-힣]+|[^\W\d_가-힣A-Za-z]+")
# What a name may end with and still be the same thing. Databases and topics have no such suffix: `ledger-db` is not `ledger`.
SUFFIXES = ("microservice", "service", "svc", "마이크로서비스", "서비스", "시스템")
# Words that teams write long and short.
LONG_FORMS = {"otel": "open telemetry", "k8s": "kubernetes"}
HANGUL_WORD = re.compile(r"[가-힣]+")
_PARENS = re.compile(r"\s*[(\[（]([^()\[\]（）]*)[)\]）]\s*$")


@lru_cache(maxsize=65536)
def words(name: str) -> tuple[str, ...]:
    """Words of a name in lower case: `OrderService` -> ("order", "service"), `결제서비스` -> ("결제서비스",)."""
    return tuple(part.casefold() for part in WORD.findall(name))


def squash(text: str) -> str:
    """For comparing names: case, width, separators and spaces do not count."""
    return re.sub(r"[\s_\-./:]+", "", unicodedata.normalize("NFKC", text).casefold())


def hyphenated(name: str) -> str:
    """Words joined by `-`: `Order_Service` -> `order-service`."""
    return "-".join(words(name))


def squeezed(name: str) -> str:
    """Words without anything between: `ledger-writer` and `ledgerwriter` meet here."""
    return "".join(words(name))


@lru_cache(maxsize=65536)
def stem(name: str) -> str:
    """`squeezed` without an optional suffix; never empty, so `service` stays `service`."""
    key = squeezed(name)
    for short, long in LONG_FORMS.items():
        key = key.replace(long.replace(" ", ""), short)
    for suffix in SUFFIXES:
        if key.endswith(suffix) and len(key) > len(suffix):
            return key[: -len(suffix)]
    return key


def has_suffix(name: str) -> bool:
    """Whether the name says that it is a service (`cart-service`, `결제서비스`)."""
    return stem(name) != squeezed(name)


@lru_cache(maxsize=65536)
def keys(name: str) -> tuple[str, ...]:
    """Keys of a name, strictest first, without repetition. A namespace prefix (`shop/cart`) is the loosest part."""
    bare = name.strip().strip("`'\"").strip()
    found = [bare.casefold(), hyphenated(bare), squeezed(bare), stem(bare)]
    if "/" in bare and not bare.startswith("/"):
        last = bare.rsplit("/", 1)[1]
        found += [last.casefold(), hyphenated(last), squeezed(last), stem(last)]
    if (host := re.sub(r":\d+$", "", bare)) != bare:
        found.append(host.casefold())
    if host := service_host(bare):
        found += [host.casefold(), squeezed(host), stem(host)]
    return tuple(dict.fromkeys(key for key in found if key))


def service_host(name: str) -> str:
    """`cart` of `cart.shop.svc.cluster.local` or `cart:8080`; empty where the name is no such address."""
    host = re.sub(r":\d+$", "", name)
    cluster = re.fullmatch(r"([a-z0-9-]+)\.[a-z0-9-]+\.svc(\.[a-z0-9.-]+)?", host)
    if cluster:
        return cluster[1]
    return host if host != name and "." not in host else ""


def split_label(label: str) -> tuple[str, ...]:
    """A drawn label and its parts as spellings: `Database (PostgreSQL)` -> itself, `Database`, `PostgreSQL`."""
    label = " ".join(label.split())
    match = _PARENS.search(label)
    if match is None:
        return (label,) if label else ()
    outer, inner = label[: match.start()].strip(), match[1].strip()
    return tuple(dict.fromkeys(part for part in (label, outer, inner) if part))
