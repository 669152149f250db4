"""Checking an answer in code: each citation resolves and carries its sentence, each number is in the evidence cited. Pure.

The same check for every narrator. What does not pass is reported, never removed silently and never shown as a source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from answer.evidence import Evidence, aliases, evidence_of
from answer.language import sentences
from answer.numbers import check_numbers, dates_reason
from answer.outright import outright_reason
from answer.quantities import quantities
from answer.roles import blank_operations, names_reason, roles_reason, swapped_reason
from answer.superlatives import firsts
from answer.support import layer_reason, words_reason
from nexus.model.names import squash
from nexus.model.registry import Registry
from nexus.ports.answers import Citation, NumberCheck, Packet, SentenceCheck, Verification

MARKER = re.compile(r"\[((?:E?\d{1,4})(?:\s*[,;]\s*E?\d{1,4})*)\]")
# Any short bracket that looks like a source: a marker of another packet or an invented one is no citation of this one.
_ODD = re.compile(r"\[((?:doc|source|ref|passage|edge|p|s|d|f)?[\s#:-]*[A-Z]?\d{1,6})\]", re.IGNORECASE)
_FRAME = re.compile(
    r":\s*$|^\s*#+\s|^(?:here (?:is|are)|in summary|summary|sources?|note)\b[^.]{0,40}:?$|^(?:요약|출처|다음은)[^.]{0,20}:?$",
    re.IGNORECASE,
)

_COMPARED = re.compile(
    r"(?<!\bat )\b(?:most|least|slowest|fastest|busiest|highest|lowest|longest|shortest|largest|smallest)\b|가장|제일",
    re.IGNORECASE,
)


def markers(sentence: str) -> list[str]:
    """Markers cited in a sentence, in order."""
    found = []
    # What stands in a quotation is the document's own: its footnotes are no citations of ours.
    outside = re.sub(r"“[^”]*”", lambda m: " " * len(m.group(0)), sentence)
    for match in re.finditer(r"\[([^\[\]\n]{1,60})\](?!\()", outside):
        inner = match.group(0)
        if MARKER.fullmatch(inner):
            found += [part.strip() for part in re.split(r"[,;]", match.group(1))]
        elif _ODD.fullmatch(inner):
            found.append(match.group(1).strip())
    return list(dict.fromkeys(found))


def verify(text: str, packet: Packet, registry: Registry) -> Verification:
    """Every statement, citation and number of an answer."""
    known, best = evidence_of(packet, registry), firsts(packet)
    citations: list[Citation] = []
    numbers: list[NumberCheck] = []
    checked: list[SentenceCheck] = []
    for index, sentence in enumerate(sentences(text)):
        bare = re.sub(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+", "", sentence)
        cited = markers(bare)
        plain = MARKER.sub("", bare)
        if not cited and (_FRAME.search(bare) or not re.search(r"\w", plain)):
            continue
        resolved = [known[m] for m in cited if m in known]
        reason, checks = _statement(bare, plain, resolved, registry, quoted=bool(cited))
        edges = {e.rid for e in resolved if e.kind == "edge"}
        if best and edges and not reason and not edges & best and _COMPARED.search(plain):
            # The packet holds what was compared: the second is not the first, whatever its numbers are.
            reason = "another edge of the evidence is first"
        missing = [m for m in cited if m not in known]
        if missing and not reason:
            reason = f"[{missing[0]}] is no evidence of this answer"
        for marker in cited:
            item = known.get(marker)
            if item is None:
                citations.append(
                    Citation(
                        marker,
                        "edge" if marker.startswith("E") else "passage",
                        "",
                        verified=False,
                        reason="no such evidence",
                        sentence=index,
                    )
                )
            else:
                own = (
                    reason if resolved and not missing else _statement(bare, plain, resolved, registry, quoted=True)[0]
                )
                idle = "" if own else _idle(plain, item, resolved)
                citations.append(
                    Citation(
                        marker, item.kind, item.rid, verified=not (own or idle), reason=own or idle, sentence=index
                    )
                )
        numbers += [_number(c, index, bare) for c in checks]
        checked.append(SentenceCheck(index, sentence, verified=not reason, reason=reason))
    return Verification(tuple(citations), tuple(numbers), tuple(checked))


def _number(check: tuple[float, str, bool, str], index: int, sentence: str) -> NumberCheck:
    del sentence
    value, unit, good, shown = check
    return NumberCheck(value, unit, good, shown, index)


def _statement(
    bare: str, plain: str, evidence: Sequence[Evidence], registry: Registry, *, quoted: bool
) -> tuple[str, list[tuple[float, str, bool, str]]]:
    """(why it is not carried, its numbers as (value, unit, good, as written))."""
    if not evidence:
        listed = [(q.shown, q.shown_unit, False, bare[q.start : q.end]) for q in quantities(bare)]
        return ("none of its citations is evidence of this answer" if quoted else "no citation"), listed
    checks = check_numbers(bare, evidence, _spellings(plain, registry))
    listed = [
        (c.quantity.shown, c.quantity.shown_unit, not c.reason, bare[c.quantity.start : c.quantity.end]) for c in checks
    ]
    if _verbatim(plain, evidence):
        return "", [(value, unit, True, shown) for value, unit, _, shown in listed]
    wrong = next((c for c in checks if c.reason), None)
    if wrong is not None:
        return f"{bare[wrong.quantity.start : wrong.quantity.end].strip()}: {wrong.reason}", listed
    reason = (
        dates_reason(bare, evidence)
        or names_reason(plain, evidence, registry)
        or roles_reason(plain, evidence, registry)
        or outright_reason(plain, evidence)
        or swapped_reason(plain, evidence, registry)
        or layer_reason(plain, evidence)
        or words_reason(plain, evidence, registry)
    )
    return reason, listed


def _spellings(plain: str, registry: Registry) -> list[frozenset[str]]:
    found = {}
    for item in registry.find(blank_operations(plain)):
        spelled = registry.surface(item)
        found[spelled] = aliases(registry, spelled)
    return list(found.values())


def _verbatim(plain: str, evidence: Sequence[Evidence]) -> bool:
    """The statement, or what it puts in quotation marks beside a title and place, stands so in a statement of the evidence."""
    said = squash(re.sub(r"[.\s]+$", "", plain))
    windows = [squash(MARKER.sub("", w.text)) for e in evidence for w in e.windows]
    if len(said) >= 12 and any(said in w for w in windows):
        return True
    match = re.fullmatch(r"\s*(?P<head>[^“]{0,200})“(?P<quote>.+)”\s*[.]?\s*", plain, re.DOTALL)
    if match is None or any(char in match["head"] for char in "!?"):
        return False
    quote, head = squash(match["quote"]), squash(re.sub(r"\b(?:says|said)\b|문서", "", match["head"]))
    rest = re.sub(r"\([^)]*\)", "", match["head"]).strip(" :")
    titled = any(squash(rest.removesuffix("says").removeprefix("문서").strip(" :")) in squash(e.text) for e in evidence)
    return bool(quote) and titled and any(quote in w for w in windows) and (not head or titled)


def _idle(plain: str, item: Evidence, evidence: Sequence[Evidence]) -> str:
    """A citation beside others that adds nothing to its sentence is decoration."""
    from answer.language import terms

    if len(evidence) == 1:
        return ""
    words = set(terms(plain)) & set(terms(item.text))
    named = any(n and n in squash(plain) for n in (item.source | item.target))
    return "" if words or named else "nothing of the sentence is in it"
