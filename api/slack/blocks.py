"""Answers and digests as Slack blocks, inside Slack's limits. Pure.

Limits of the Block Kit: 50 blocks a message, 3000 characters a section, 150 a header, 10 elements a context. What is cut is said.
Texts of documents and names of spans are escaped and `verbatim`, so that they cannot mention people or make links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from nexus.model.edge import DesignedEdge, ObservedEdge
from nexus.ports.answers import Answer
from nexus.ports.drift import Report

Block = dict[str, Any]
MAX_BLOCKS, MAX_SECTION, MAX_HEADER, MAX_ELEMENTS, MAX_FALLBACK = 50, 3000, 150, 10, 3000
MAX_SOURCES = 9
_OUTCOME = {
    "en": {
        "ambiguous": "Which one do you mean?",
        "unknown_name": "I do not know that name.",
        "no_evidence": "I found no evidence.",
        "failed": "The answer could not be written; here is the evidence.",
    },
    "ko": {
        "ambiguous": "어느 것을 말씀하시나요?",
        "unknown_name": "모르는 이름입니다.",
        "no_evidence": "근거를 찾지 못했습니다.",
        "failed": "답변을 작성하지 못해 근거만 제공합니다.",
    },
}


def escape(text: str) -> str:
    """Slack's three control characters; format characters keep their look through a zero-width space."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([*_~`])", "\u200b\\1", plain)


def cut(text: str, most: int) -> str:
    """At most `most` characters; never inside an entity of `escape`."""
    if len(text) <= most:
        return text
    return text[: _whole(text, most - 2)] + " …"


def _whole(text: str, most: int) -> int:
    """How many of the first `most` characters to take so that no entity of `escape` is broken."""
    broken = re.search(r"&\w{0,4}$", text[:most])
    return broken.start() if broken and len(text) > most else most


def _words(text: str) -> Block:
    """A text object. Slack makes links and mentions of what looks like them in plain text unless it is verbatim; links that we make stay links."""
    return {"type": "mrkdwn", "text": cut(text, MAX_SECTION) or " ", "verbatim": True}


def section(text: str) -> Block:
    """One block of text."""
    return {"type": "section", "text": _words(text)}


def context(elements: Iterable[str]) -> Block:
    """Small print."""
    kept = [element for element in elements if element][:MAX_ELEMENTS]
    return {"type": "context", "elements": [_words(element) for element in kept]}


def outcome(answer: Answer) -> str:
    """answered, partly (something is not verified), abstained or failed."""
    if answer.abstained:
        return "abstained"
    if not answer.verification.sentences:
        return "failed"
    return "partly" if any(not s.verified for s in answer.verification.sentences) else "answered"


def answer_blocks(answer: Answer, page_url: str = "") -> tuple[str, list[Block]]:
    """(text for notifications, blocks): the answer, its edges and sources, confidence, what is not verified."""
    korean = answer.packet.language == "ko"
    words = _OUTCOME[answer.packet.language]
    state = outcome(answer)
    blocks: list[Block] = []
    if state in {"abstained", "failed"}:
        blocks.append(section(f"*{words.get(answer.abstain_reason or state, words['no_evidence'])}*"))
    blocks += [section(part) for part in _parts(escape(answer.text), MAX_SECTION)[:10]]
    if state == "partly":
        wrong = [s for s in answer.verification.sentences if not s.verified]
        head = "검증되지 않은 문장" if korean else "Not verified"
        blocks.append(
            section(f":warning: *{head}*\n" + "\n".join(f"• {escape(s.text)} — {escape(s.reason)}" for s in wrong[:5]))
        )
    blocks += _evidence(answer, page_url)
    facts = [] if answer.abstained else [f"{'신뢰도' if korean else 'confidence'} {answer.confidence:.2f}"]
    facts += [escape(note) for note in (*answer.packet.gaps[:2], *answer.degraded[:3])]
    if facts:
        blocks.append(context(facts))
    return cut(escape(answer.text), MAX_FALLBACK), _bounded(blocks, korean=korean)


def _evidence(answer: Answer, page_url: str) -> list[Block]:
    cited = {c.marker for c in answer.verification.citations if c.verified}
    # Without a word of the narrator the evidence found stands for itself.
    every = not cited and not answer.abstained
    edges = [e for e in answer.packet.edges if e.marker in cited or every]
    lines = []
    for item in edges[:MAX_SOURCES]:
        edge = item.edge
        count = f" · {edge.messages or edge.calls}, {edge.errors} errors" if isinstance(edge, ObservedEdge) else ""
        place = (
            f" · {edge.claims[0].document.uri}:{edge.claims[0].lines[0]}"
            if isinstance(edge, DesignedEdge) and edge.claims
            else ""
        )
        link = edge.trace_query.url if isinstance(edge, ObservedEdge) and edge.trace_query else ""
        traces = f" · <{link}|traces>" if re.fullmatch(r"https?://[^\s<>|]+", link) else ""
        lines.append(
            f"[{item.marker}] {escape(edge.source.name)} → {escape(edge.target.name)}{count}{escape(place)}{traces}"
        )
    passages = [p for p in answer.packet.passages if p.marker in cited or every]
    for passage in passages[:MAX_SOURCES]:
        document = passage.hit.passage.document
        lines.append(
            f"[{passage.marker}] {escape(document.title)} · {escape(document.uri)}:{passage.hit.passage.lines[0]}"
        )
    hidden = max(0, len(edges) - MAX_SOURCES) + max(0, len(passages) - MAX_SOURCES)
    if hidden:
        lines.append(f"+ {hidden}")
    found = [section("\n".join(lines))] if lines else []
    if page_url and lines:
        found.append(context([f"<{page_url.rstrip('/')}/#ask|Nexus>"]))
    return found


def _parts(text: str, most: int) -> list[str]:
    """A text in pieces of at most `most` characters, broken between lines where that is possible."""
    parts, current = [], ""
    for line in text.split("\n"):
        while len(line) > most:
            parts += [current] if current else []
            size = _whole(line, most)
            current, parts, line = "", [*parts, line[:size]], line[size:]  # noqa: PLW2901  # the rest of the line
        if len(current) + len(line) + 1 > most:
            parts.append(current)
            current = line
        else:
            current = f"{current}\n{line}" if current else line
    return [*parts, current] if current else parts


def _bounded(blocks: list[Block], *, korean: bool) -> list[Block]:
    if len(blocks) <= MAX_BLOCKS:
        return blocks
    return [*blocks[: MAX_BLOCKS - 1], context(["이하 생략" if korean else "the rest is left out"])]


def digest_blocks(report: Report, page_url: str = "") -> tuple[str, list[Block]]:
    """One message a drift run: counts, and the findings that ask most for attention."""
    totals = report.totals
    counted = ", ".join(
        f"{name} {totals.get(name, 0)}" for name in ("confirmed", "doc_only", "observed_only", "conflict", "undecided")
    )
    title = f"Drift {report.run.window_from:%Y-%m-%d} – {report.run.window_to:%Y-%m-%d}" + (
        f" · {report.run.environment}" if report.run.environment else ""
    )
    blocks: list[Block] = [
        {"type": "header", "text": {"type": "plain_text", "text": cut(title, MAX_HEADER)}},
        section(counted),
    ]
    asking = sorted(
        (
            f
            for f in report.findings
            if f.flag != "confirmed" and not f.undecided and f.state in {"new", "reopened", "open"}
        ),
        key=lambda f: (-f.rank, f.fingerprint),
    )
    for finding in asking[:8]:
        link = f"{page_url.rstrip('/')}/#drift?finding={finding.fingerprint}" if page_url else ""
        name = f"{escape(finding.source.name)} → {escape(finding.target.name)}"
        head = f"<{link}|{name}>" if link else f"*{name}*"
        blocks.append(
            section(
                f"{head}  {finding.flag} ({escape(finding.status)}), {finding.severity}, {finding.state}\n{escape(finding.summary)}"
            )
        )
    if len(asking) > 8:
        blocks.append(context([f"{len(asking) - 8} more"]))
    return f"{escape(title)}: {counted}", _bounded(blocks, korean=False)
