"""Evidence as text and as facts: what a narrator reads of an edge, and what a check compares with. Pure.

One description for both, so that nothing can be said from an edge that the check does not know.
"""

# ruff: noqa: E501  # patterns and word tables read better whole
from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from answer.debt import debt_line
from answer.graph import stands
from answer.language import sentences
from answer.quantities import Quantity, dates, quantities
from nexus.model.edge import Cause, DesignedEdge, Latency, ObservedEdge, Relation
from nexus.model.finding import Finding, Flag
from nexus.model.names import squash
from nexus.model.registry import Registry
from nexus.model.service import NodeKind
from nexus.ports.answers import Change, EdgeEvidence, Packet, PassageEvidence
from nexus.ports.code import CodeAnchor, CodeValue

VERB = {
    "CALLS": "calls",
    "PUBLISHES": "publishes to",
    "SUBSCRIBES": "subscribes to",
    "DELIVERS": "delivers messages to",
}
# Sentences of documents that speak to a model and not to a reader: data like all else, but never support for a statement.
INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|context|evidence)|\b(?:system|developer) prompt\b|\byou are (?:now|an? (?:ai|assistant|language model))\b"
    r"|\b(?:as an ai|assistant|language model|llm|chatbot)\b.{0,40}\b(?:must|should|shall|will|always|reply|respond|answer|say)\b|\b(?:answer|reply|respond|output|say)\b.{0,20}\b(?:only )?with\b.{0,60}[\"'“]"
    r"|이전\s*(?:의\s*)?(?:지시|명령|프롬프트)|(?:지시|명령|규칙)\S*\s*(?:를|을|은)?\s*무시|시스템\s*프롬프트|(?:어시스턴트|챗봇|모델|AI)(?:는|은|에게|야)?\s.{0,30}(?:답하|말하|대답|출력|응답)|라고만\s*(?:답|말|대답)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of evidence that is read as one statement, with its numbers."""

    text: str
    numbers: tuple[Quantity, ...]
    # Two sentences read together: for numbers and their names, never for who says the opposite of what.
    pair: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """One citable item as the check sees it. `ends` (source, target) squashed names, for an edge; empty for a passage."""

    marker: str
    kind: str
    rid: str
    text: str
    windows: tuple[Window, ...]
    names: frozenset[str]
    dates: frozenset[str]
    source: frozenset[str] = frozenset()
    target: frozenset[str] = frozenset()
    relation: str = ""
    # For an edge: was it observed, and is it documented; None = this item does not say.
    observed: bool | None = None
    documented: bool | None = None
    quote: str = ""


def window(text: str) -> Window:
    """A window over a text. A whole row of a table lends words; its numbers are those of its cells."""
    return Window(text, () if "||" in text else tuple(quantities(text)))


def moment(at: datetime | None) -> str:
    """To the minute, UTC."""
    return at.strftime("%Y-%m-%d %H:%M") if at else ""


def rate(errors: int, calls: int) -> float:
    """Errors in percent."""
    return 100.0 * errors / calls if calls else 0.0


def total(edge: ObservedEdge) -> int:
    """What the edge counts: messages where it carries them, else calls."""
    return edge.messages if edge.relation is not Relation.CALLS_OBSERVED else edge.calls


def percent(value: float) -> str:
    """`0.53`, two significant digits below ten."""
    return "0" if value == 0 else f"{value:.2g}" if value < 10 else f"{value:.1f}"


def ms(value: float) -> str:
    """Milliseconds with three significant digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def shown(name: str) -> str:
    """A name from telemetry as it may stand in a sentence: no line breaks, no control characters, no brackets that would read as a citation."""
    return "".join(c if c.isprintable() else " " for c in name).replace("[", "(").replace("]", ")")


def many(count: int, noun: str, several: str = "") -> str:
    """`1 call`, `943 calls`: one of a thing is never said as several."""
    return f"{count} {noun if count == 1 else several or noun + 's'}"


def cause(pair: Cause, edge: ObservedEdge) -> str:
    """The operations of a cause in words, as far as there are any: publishing has no callee's."""
    caller = (
        f"{shown(pair.caller_operation)} of {shown(edge.source.name)}"
        if pair.caller_operation
        else shown(edge.source.name)
    )
    return (
        f"{caller} triggers {shown(pair.callee_operation)} on {shown(edge.target.name)}"
        if pair.callee_operation
        else caller
    )


def describe(item: EdgeEvidence, changes: tuple[Change, ...] = ()) -> list[str]:
    """An edge in lines, English: identity, counts, latencies, times, causes, claims, findings, changes of it."""
    edge = item.edge
    head = f"{shown(edge.source.name)} {VERB[edge.relation.value.removesuffix('_OBSERVED')]} {shown(edge.target.name)}"
    lines = _observed(edge, head) if isinstance(edge, ObservedEdge) else _designed(edge, head)
    ends = (edge.source, edge.target)
    lines += [f"{shown(node.name)} is an external system" for node in ends if node.kind is NodeKind.EXTERNAL]
    lines += [f"drift: {f.flag} ({f.status}): {f.summary}" for f in item.findings]
    lines += [f"promise: {text}" for text in promises(item)]
    lines += [_change(c) for c in changes if c.rid == edge.rid]
    return lines


def promises(item: EdgeEvidence) -> list[str]:
    """What the diff says of the promises on an edge, each once: met, violated or inconclusive, with its bounds."""
    return list(dict.fromkeys(p["text"] for f in item.findings for p in f.details.get("promises", ())))


def _change(change: Change) -> str:
    if change.kind == "errors":
        return f"changed: error rate from {percent(change.before)} % to {percent(change.after)} %"
    if change.kind == "latency":
        return f"changed: latency p95 from {ms(change.before)} ms to {ms(change.after)} ms"
    if change.kind == "volume":
        return f"changed: from {change.before:.0f} to {change.after:.0f} calls or messages"
    return f"{'new since' if change.kind == 'new' else 'not seen since'} {moment(change.at)} UTC"


def _observed(edge: ObservedEdge, head: str) -> list[str]:
    unit = "call" if edge.relation is Relation.CALLS_OBSERVED else "message"
    count = total(edge)
    lines = [
        f"{head} (observed{', environment ' + edge.source.environment if edge.source.environment else ''}): {many(count, unit)}, {many(edge.errors, 'error')}"
    ]
    lines.append(
        f"error rate {percent(rate(edge.errors, count))} %, success rate {percent(100 - rate(edge.errors, count))} %"
    )
    if edge.retries or edge.cancelled:
        lines.append(f"{many(edge.retries, 'retry', 'retries')}, cancelled: {edge.cancelled}")
    lines.append(
        f"client errors: {many(edge.client_errors, 'error')}; server errors: {many(edge.server_errors, 'error')}; handled {many(edge.handled, 'call')}"
    )
    if edge.protocols:
        lines.append(
            "protocols " + ", ".join(f"{name} ({many(n, unit)})" for name, n in sorted(edge.protocols.items()))
        )
    if edge.via:
        lines.append("via " + ", ".join(f"{name} ({many(n, unit)})" for name, n in sorted(edge.via.items())))
    if edge.operations:
        lines.append(
            "operations " + ", ".join(f"{name} ({many(n, unit)})" for name, n in sorted(edge.operations.items()))
        )
    if edge.consumer_groups:
        lines.append("consumer groups " + ", ".join(sorted(edge.consumer_groups)))
    lines += [
        _latency(name, latency)
        for name, latency in (
            ("client latency", edge.client_latency),
            ("server latency", edge.server_latency),
            ("queue time", edge.queue),
        )
        if latency
    ]
    if edge.first_seen and edge.last_seen:
        lines.append(
            f"first seen {moment(edge.first_seen)} UTC, last seen {moment(edge.last_seen)} UTC, active on {many(edge.active_days, 'day')}"
        )
    if edge.support.instances:
        lines.append(f"seen from {many(edge.support.instances, 'instance')}")
    lines += [f"cause: {cause(c, edge)}: {many(c.calls, unit)}" for c in edge.causes]
    if edge.source_versions or edge.target_versions:
        lines.append(f"versions {', '.join(edge.source_versions)} / {', '.join(edge.target_versions)}")
    lines += [
        f"exemplar {x.outcome} trace {x.trace_id}" + (f" {ms(x.duration_ms)} ms" if x.duration_ms is not None else "")
        for x in edge.exemplars
    ]
    return lines


def _latency(name: str, latency: Latency) -> str:
    mean = latency.sum / latency.count if latency.count else 0.0
    return (
        f"{name} p50 {ms(latency.p50)} ms, p90 {ms(latency.p90)} ms, p95 {ms(latency.p95)} ms, p99 {ms(latency.p99)} ms, max {ms(latency.max)} ms, "
        f"min {ms(latency.min)} ms, mean {ms(mean)} ms"
    )


def _designed(edge: DesignedEdge, head: str) -> list[str]:
    via = " ".join(part for part in (edge.via.protocol, edge.via.operation, edge.via.channel) if part)
    said = "documented" if stands(edge) else f"{edge.claims[0].modality} by a document" if edge.claims else "documented"
    lines = [f"{head} ({said}{', via ' + via if via else ''})"]
    for claim in edge.claims:
        lines.append(
            f"{claim.modality} in {claim.document.title} ({claim.document.uri}, lines {claim.lines[0]}-{claim.lines[1]})"
        )
        lines.append(claim.quote)
    return lines


def passage_windows(text: str) -> list[str]:
    """Statements of a passage: sentences, list items, table rows. Instructions to a model are left out."""
    return [w for w in _split(text, cells=False) if not INSTRUCTION.search(w)]


def _split(text: str, *, cells: bool) -> list[str]:
    """Rows of a table come whole, and, with `cells`, each value once more with the names of its row and column."""
    out: list[str] = []
    header: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped.startswith("|"):
            header = []
            out += sentences(stripped)
            continue
        if re.fullmatch(r"[|\s:-]+", stripped):
            continue
        row = [cell.strip() for cell in stripped.strip("|").split("|")]
        if not header:
            header = row
            out.append(" | ".join(row))
            continue
        out.append(f"{' | '.join(header)} || {' | '.join(row)}")
        if cells:
            out += [f"{row[0]} {name}: {value}" for name, value in zip(header[1:], row[1:], strict=False) if value]
    return out


def evidence_of(packet: Packet, registry: Registry) -> dict[str, Evidence]:
    """Every citable item of a packet by its marker."""
    found = {p.marker: _with_notes(_passage(p), p, packet) for p in packet.passages}
    known = {
        (e.edge.source.name, e.edge.target.name)
        for e in packet.edges
        if isinstance(e.edge, DesignedEdge) and stands(e.edge)
    }
    seen = {(e.edge.source.name, e.edge.target.name) for e in packet.edges if isinstance(e.edge, ObservedEdge)}
    found.update({e.marker: _edge(e, registry, known, seen, packet) for e in packet.edges})
    return found


def _passage(item: PassageEvidence) -> Evidence:
    passage = item.hit.passage
    parts = [w for w in _split(passage.text, cells=True) if not INSTRUCTION.search(w)]
    heading = " > ".join(passage.section)
    pairs = [f"{a} {b}" for a, b in pairwise(passage_windows(passage.text)) if "||" not in a + b]
    windows = [*(window(w) for w in parts), *(replace(window(w), pair=True) for w in pairs)]
    text = "\n".join([heading, passage.document.title, *parts])
    return Evidence(
        item.marker, "passage", passage.rid, text, tuple(windows), _names(text), frozenset(dates(text)), quote=heading
    )


def value_line(value: CodeValue, language: str) -> str:
    """What the document claims beside what code has."""
    if language == "ko":
        return f"문서는 {value.claimed}, 코드의 {value.name} = {value.value} ({value.path}:{value.line})"
    return f"The document says {value.claimed}, the code has {value.name} = {value.value} ({value.path}:{value.line})"


def anchor_line(anchor: CodeAnchor, language: str) -> str:
    """What became of a name of code since the passage was indexed; "" where it is as it was, or never was bound."""
    place = f" ({anchor.path}:{anchor.line})" if anchor.path else ""
    if anchor.state == "changed":
        return (
            f"코드의 `{anchor.name}`{place} 내용이 이 글 이후 바뀌었다"
            if language == "ko"
            else f"`{anchor.name}` has changed in the code since this was written{place}"
        )
    if anchor.state == "gone":
        return (
            f"코드에 `{anchor.name}` 이름이 더 이상 없다"
            if language == "ko"
            else f"`{anchor.name}` is no longer in the code"
        )
    return ""


def _with_notes(found: Evidence, item: PassageEvidence, packet: Packet) -> Evidence:
    """What the code index and the debt of its document say beside a passage is evidence of its marker: who cites it may show both."""
    languages = ("en", "ko")
    lines = [
        value_line(v, language) for v in packet.values if v.passage == found.rid and v.claimed for language in languages
    ]
    lines += [
        line
        for a in packet.anchors
        if a.passage == found.rid
        for language in languages
        if (line := anchor_line(a, language))
    ]
    debts = [debt for debt in packet.debt if debt.document == item.hit.passage.document.rid]
    lines += [line for debt in debts for language in languages if (line := debt_line(debt, language))]
    if not lines:
        return found
    text = "\n".join([found.text, *lines])
    return replace(found, text=text, windows=(*found.windows, *(window(line) for line in lines)), names=_names(text))


def _names(text: str) -> frozenset[str]:
    return frozenset(squash(word) for word in re.findall(r"[A-Za-z0-9가-힣][\w./:@-]*", text))


def aliases(registry: Registry, name: str) -> frozenset[str]:
    """All spellings of one name, squashed."""
    entity = registry.resolve(name).entity
    own = {
        name,
        name.rsplit("/", 1)[-1],
        *((entity.name, entity.name.rsplit("/", 1)[-1], *entity.aliases, entity.rid) if entity else ()),
    }
    return frozenset(squash(n) for n in own)


def _edge(
    item: EdgeEvidence,
    registry: Registry,
    known: set[tuple[str, str]],
    seen: set[tuple[str, str]],
    packet: Packet,
) -> Evidence:
    edge = item.edge
    # The name of an operation comes from a span: where it speaks to a model, it carries nothing.
    lines = [line for line in describe(item, packet.changes) if not INSTRUCTION.search(line)]
    if isinstance(edge, ObservedEdge):
        lines += [f"telemetry gap: {gap}" for gap in packet.gaps]
    text = "\n".join(lines)
    ends = (edge.source.name, edge.target.name)
    source, target = aliases(registry, ends[0]), aliases(registry, ends[1])
    flags = {f.flag for f in item.findings}
    observed = isinstance(edge, ObservedEdge) or ends in seen or Flag.CONFIRMED in flags
    documented = (isinstance(edge, DesignedEdge) and stands(edge)) or ends in known or Flag.CONFIRMED in flags
    quote = "\n".join(c.quote for c in edge.claims) if isinstance(edge, DesignedEdge) else ""
    windows = [window(line) for line in lines]
    return Evidence(
        item.marker,
        "edge",
        edge.rid,
        text,
        tuple(windows),
        _names(text) | source | target,
        frozenset(dates(text)),
        source,
        target,
        edge.relation.value.removesuffix("_OBSERVED"),
        observed,
        documented,
        quote,
    )


def finding_on(findings: tuple[Finding, ...], flag: Flag) -> Finding | None:
    """The first finding of a flag."""
    return next((f for f in findings if f.flag is flag), None)
