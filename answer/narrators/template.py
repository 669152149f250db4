"""The narrator without a model: deterministic, English and Korean, every sentence with its evidence.

It reports edges by the kind of question, and answers questions to the documents by quoting the sentences that fit best.
"""

from __future__ import annotations

from collections.abc import Iterator

from answer.debt import debt_line
from answer.evidence import anchor_line, value_line
from answer.narrators.extract import best_sentences, said_of_subjects
from answer.narrators.reports import REPORTS
from nexus.ports.answers import Packet, QuestionKind

# Values and changed names of code that an answer mentions.
MOST = 3


class TemplateNarrator:
    """Sentences from templates. Never fails; says nothing that the packet does not hold."""

    name = "template"

    def narrate(self, packet: Packet) -> Iterator[str]:
        """One sentence a piece."""
        lines = [*REPORTS[packet.kind](packet), *self._documents(packet)]
        for number, line in enumerate(lines):
            yield line if number == 0 else f"\n{line}"

    def _documents(self, packet: Packet) -> list[str]:
        """Quotes: the answer to a question to the documents, what documents add to any other."""
        korean = packet.language == "ko"
        asked = packet.kind is QuestionKind.DOCUMENT
        quoted = best_sentences(packet, 1 if packet.weak else 3) if asked else said_of_subjects(packet)
        lines = []
        if packet.kind is QuestionKind.DOCUMENT and packet.weak and quoted:
            lines.append(
                "질문에 정확히 맞는 근거는 없으며, 가장 가까운 내용은 다음과 같다:"
                if korean
                else "Nothing found fits the question closely; the nearest is:"
            )
        for item, sentence in quoted:
            document = item.hit.passage.document
            place = f"{document.title} ({document.uri}:{item.hit.passage.lines[0]})"
            body = sentence.rstrip(".。 ")
            lines.append(f"{place}: “{body}” [{item.marker}].")
        markers = {item.marker for item, _ in quoted}
        lines += self._code(packet, markers)
        lines += self._debt(packet, markers)
        return lines

    def _code(self, packet: Packet, quoted: set[str]) -> list[str]:
        """Values that code has beside those that documents claim, and names whose code is not what a quoted passage was written about."""
        markers = {p.hit.passage.rid: p.marker for p in packet.passages}
        said = [(value_line(v, packet.language), v.passage) for v in packet.values[:MOST] if v.claimed]
        notes = [
            (line, a.passage)
            for a in packet.anchors
            if markers.get(a.passage) in quoted and (line := anchor_line(a, packet.language))
        ]
        return [f"{line} [{markers[passage]}]." for line, passage in (*said, *notes[:MOST])]

    def _debt(self, packet: Packet, quoted: set[str]) -> list[str]:
        head = "주의" if packet.language == "ko" else "Note"
        out = []
        for debt in packet.debt:
            marker = next(
                (
                    p.marker
                    for p in packet.passages
                    if p.hit.passage.document.rid == debt.document and p.marker in quoted
                ),
                "",
            )
            line = debt_line(debt, packet.language)
            if line and marker:
                out.append(f"{head}: {line} [{marker}].")
        return out


assert set(REPORTS) == set(QuestionKind), "each kind of question has its report"
