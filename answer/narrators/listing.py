"""The reports on what is named by no entity: all participants of a kind, everyone who uses a technology. Pure."""

from __future__ import annotations

from answer.evidence import shown
from answer.graph import stands
from answer.narrators import phrases as say
from nexus.model.edge import ObservedEdge
from nexus.model.service import NodeKind
from nexus.ports.answers import EdgeEvidence, Packet

LISTED = 12
_NAMES = {
    NodeKind.EXTERNAL: ("External systems", "외부 시스템"),
    NodeKind.TOPIC: ("Topics", "토픽"),
    NodeKind.DATABASE: ("Databases", "데이터베이스"),
}


def users(packet: Packet, technology: str) -> list[str]:
    """Who uses a technology, then each use with its numbers or its document; who only should not is told so."""
    standing = [item for item in packet.edges if stands(item.edge)]
    named: dict[str, EdgeEvidence] = {}
    for item in standing:
        named.setdefault(shown(item.edge.source.name), item)
    chosen = list(named.items())[:LISTED]
    out = []
    if chosen:
        who, marks = ", ".join(name for name, _ in chosen), say.cite([item for _, item in chosen])
        korean = packet.language == "ko"
        out.append(
            f"{say.josa(technology, '를')} 사용하는 쪽: {who} {marks}."
            if korean
            else f"{technology} is used by {who} {marks}."
        )
    for item in packet.edges:
        observed = isinstance(item.edge, ObservedEdge)
        out += [say.observed_line(item, packet.language)] if observed else []
        if not observed:
            out += [] if stands(item.edge) else [say.documented_line([item], packet.language)]
            out += say.quote_line(item, packet.language, 1)
    return out


def listing(packet: Packet) -> list[str]:
    """The participants with the most traffic first, as the edges are; each is cited by one edge."""
    by_name: dict[str, list[EdgeEvidence]] = {}
    for item in packet.edges:
        if stands(item.edge):
            by_name.setdefault(shown(item.edge.target.name), []).append(item)
    if not by_name:
        return []
    english, korean = _NAMES.get(packet.edges[0].edge.target.kind, ("Participants", "구성 요소"))
    chosen = list(by_name.items())[:LISTED]
    marks = say.cite([items[0] for _, items in chosen])
    names = ", ".join(name for name, _ in chosen)
    out = [f"{korean if packet.language == 'ko' else english}: {names} {marks}."]
    for _, items in chosen:
        for item in items[:LISTED]:
            observed = isinstance(item.edge, ObservedEdge)
            out += [say.observed_line(item, packet.language)] if observed else say.quote_line(item, packet.language, 1)
    return out
