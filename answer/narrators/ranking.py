"""The report on the busiest, slowest or most failing call: the first by its number, then those behind it. Pure."""

from __future__ import annotations

from answer.evidence import many, ms, percent, rate, total
from answer.narrators import phrases as say
from answer.superlatives import Measure, Superlative, value
from nexus.model.edge import ObservedEdge
from nexus.ports.answers import EdgeEvidence, Packet

# (most, least), English and Korean.
_HEADS = {
    Measure.VOLUME: (("Most by count", "Least by count"), ("가장 많은 것", "가장 적은 것")),
    Measure.ERRORS: (("Most errors", "Least errors"), ("오류가 가장 많은 것", "오류가 가장 적은 것")),
    Measure.RATE: (("Fails most", "Fails least"), ("오류율이 가장 높은 것", "오류율이 가장 낮은 것")),
    Measure.LATENCY: (("Slowest, by p95", "Fastest, by p95"), ("p95 지연이 가장 긴 것", "p95 지연이 가장 짧은 것")),
}


def ranking(packet: Packet, best: Superlative) -> list[str]:
    """The first (several where they are equal) with its number, and every compared edge in order."""
    items = [i for i in packet.edges if isinstance(i.edge, ObservedEdge)]
    if not items:
        return []
    korean = packet.language == "ko"
    head = _HEADS[best.measure][korean][best.least]
    top = _value(items[0], best)
    firsts = [i for i in items if _value(i, best) == top]
    out = [
        f"{head}: {say.relation(i, packet.language)}, {_number(i, best, korean=korean)} [{i.marker}]." for i in firsts
    ]
    return [*out, *(say.observed_line(i, packet.language) for i in items)]


def _value(item: EdgeEvidence, best: Superlative) -> float | None:
    assert isinstance(item.edge, ObservedEdge)
    return value(item.edge, best.measure)


def _number(item: EdgeEvidence, best: Superlative, *, korean: bool) -> str:
    edge = item.edge
    assert isinstance(edge, ObservedEdge)
    if best.measure is Measure.LATENCY:
        return f"p95 {ms(value(edge, best.measure) or 0.0)} ms"
    if best.measure is Measure.RATE:
        share = percent(rate(edge.errors, total(edge)))
        return f"오류율 {share} %" if korean else f"error rate {share} %"
    if best.measure is Measure.ERRORS:
        return f"오류 {edge.errors}건" if korean else many(edge.errors, "error")
    return f"{say.unit(edge, 'ko')} {total(edge)}건" if korean else many(total(edge), say.unit(edge, "en"))
