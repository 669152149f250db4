"""Names of entities: how they are spelled and identified, which say nothing, and what documents introduce them by. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from designed.reader import RawEntity
from nexus.model.document import Classification
from nexus.model.names import HANGUL_WORD, hyphenated, words
from nexus.model.service import NodeKind

TRACES = "traces"
# Labels that say what a thing is and not which: no alias beyond their own diagram.
GENERIC = frozenset(
    """
    db database cache queue broker api gateway client server user users service services app application web ui
    backend storage store topic event events message messages bus worker job external system cluster node data proxy
    kafka-topic eventbus message-queue message-broker load-balancer lb cdn
    데이터베이스 캐시 큐 사용자 클라이언트 서버 서비스 시스템 외부 브로커
    """.split()
)
NUMBERED = re.compile(
    r"[a-z]{1,2}\d*|\d+|(?:svc|node|box|app|api|web|db|queue|service|client|server|user|topic|cache|job)-?\d+"
)


@dataclass(frozen=True, slots=True)
class Introduction:
    """A name that documents of a namespace introduce, all in the same way; `text` orders equal ones."""

    entity: RawEntity
    documents: tuple[str, ...]
    namespace: str
    classification: Classification
    text: str = ""


def entity_rid(name: str, kind: str) -> str:
    """Stable identifier."""
    return hashlib.sha256(f"entity\0{kind}\0{name.casefold()}".encode()).hexdigest()[:24]


def canonical(name: str) -> str:
    """How a name that nothing firmer spells is spelled: `Order Service` -> `order-service`; paths, topics, hosts and Hangul stay."""
    name = " ".join(name.split()).strip("`\"'")
    # Marks of emphasis stand on both sides; `blog.*` ends with a wildcard.
    name = re.sub(r"^([*_]+)(.*?)\1$", r"\2", name)
    if re.search(r"[/.:*{}]", name):
        return name
    if HANGUL_WORD.search(name):
        return re.sub(r"(?<=[가-힣]) (?=(?:서비스|시스템|서버)\b)", "", name)
    if re.fullmatch(r"(?:[A-Z][a-z0-9]+){2,}", name) and words(name)[-1] in (
        "service",
        "api",
        "gateway",
        "server",
        "worker",
        "database",
    ):
        return hyphenated(name)
    return re.sub(r"[\s_&]+", "-", name.casefold()).strip("-") or name


def interface_of(name: str) -> str:
    """`CartService` of `hipstershop.CartService`; empty where the name is no qualified RPC service."""
    match = re.fullmatch(r"(?:\w+\.)+([A-Z]\w*)", name)
    return match[1] if match else ""


def compatible(one: str, other: str) -> bool:
    """Whether two kinds can be one thing: what is drawn as a box may be a store; a service is never a topic."""
    if not one or not other or one == other:
        return True
    soft = {NodeKind.SERVICE.value, NodeKind.API.value}
    pair = {one, other}
    return pair <= soft | {NodeKind.DATABASE.value} or pair <= soft | {NodeKind.EXTERNAL.value}
