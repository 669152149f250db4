"""Numbers of a statement against the evidence that it cites: value, unit, sign, and what the number is of. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answer.evidence import Evidence, Window
from answer.language import HANGUL, squash, terms
from answer.quantities import Quantity, dates, label_near, quantities, same

_MARKER = re.compile(r"\[([^\[\]\n]{1,40})\]")


@dataclass(frozen=True, slots=True)
class Checked:
    """A number of the statement and why it does not hold; "" = it does."""

    quantity: Quantity
    reason: str


def check_numbers(statement: str, evidence: Sequence[Evidence], spellings: Sequence[frozenset[str]]) -> list[Checked]:
    """Each number against the items cited behind it. `spellings`: of each name in the statement, all its squashed spellings."""
    by_marker = {e.marker: e for e in evidence}
    out = []
    found = quantities(statement)
    for position, quantity in enumerate(found):
        start = found[position - 1].end if position else 0
        cited = _behind(statement, quantity, by_marker) or list(evidence)
        names = _named(statement[start : quantity.start], spellings) or _named(statement, spellings)
        out.append(Checked(quantity, _reason(statement, quantity, cited, names)))
    return out


def dates_reason(statement: str, evidence: Sequence[Evidence]) -> str:
    """Dates, times and versions occur in the evidence cited (a date without time matches one with)."""
    known = frozenset().union(*(e.dates for e in evidence)) if evidence else frozenset()
    for date in dates(statement):
        if not any(k == date or k.startswith(date) or (re.fullmatch(r"\d{1,2}:\d{2}", date) and k.endswith(date)) or (date.startswith(k + " ") is True and False) for k in known):
            return f"the evidence cited does not hold {date}"
    return ""


def _behind(statement: str, quantity: Quantity, by_marker: dict[str, Evidence]) -> list[Evidence]:
    """Items of the first group of markers behind the number."""
    found: list[Evidence] = []
    end = -1
    for match in _MARKER.finditer(statement, quantity.end):
        if end >= 0 and statement[end : match.start()].strip(" ,"):
            break
        end = match.end()
        found += [by_marker[m] for part in match.group(1).split(",") if (m := part.strip()) in by_marker]
    return found


def _named(text: str, spellings: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    squashed = squash(text)
    return [names for names in spellings if any(n in squashed for n in names)]


def _reason(statement: str, quantity: Quantity, evidence: Sequence[Evidence], names: list[frozenset[str]]) -> str:
    label = label_near(statement, quantity)
    reasons = []
    for item in evidence:
        holding = [(w, known) for w in item.windows for known in w.numbers if same(quantity, known)]
        if not holding:
            reasons.append("no such number with this unit and sign in the evidence cited")
            continue
        if label and not any(_label_fits(label, w, known) for w, known in holding):
            reasons.append(f"the evidence has this number for something else than {label}")
            continue
        if item.kind == "edge" and not all(n & item.names for n in names):
            reasons.append("the number belongs to another name")
            continue
        if item.kind == "passage" and not _about(statement, quantity, [w for w, _ in holding], item):
            reasons.append("the evidence has this number in another statement")
            continue
        return ""
    return reasons[0] if reasons else "no evidence is cited for it"


def _label_fits(label: str, window: Window, known: Quantity) -> bool:
    there = label_near(window.text, known)
    return there == label or (not there and label in {"max", "min", "mean"})


_NEUTRAL = frozenset("max min maximum minimum most least limit up".split())


def _about(statement: str, quantity: Quantity, holding: Sequence[Window], item: Evidence) -> bool:
    """A statement that holds the number shares the words around it: "timeout of 30 s" is not "pause of 30 s"."""
    near = _around(statement, quantity.start, quantity.end)
    mine = {t for t in terms(near) if not t[0].isdigit()} - _NEUTRAL
    if not mine or bool(HANGUL.search(near)) != bool(HANGUL.search(item.text)):
        return True
    heading = set(terms(item.quote))
    for window in holding:
        theirs = set(terms(window.text)) | heading
        shared = sum(t in theirs or (HANGUL.search(t) is not None and any(t[:2] == o[:2] for o in theirs)) for t in mine)
        if shared and shared * 3 >= len(mine):
            return _bound(statement, quantity, window)
    return False


def _around(text: str, start: int, end: int) -> str:
    clean = _MARKER.sub(" ", text)
    left = max((clean.rfind(c, 0, start) for c in (",", ";", "(")), default=-1)
    right = min((p for c in (",", ";", ")") if (p := clean.find(c, end)) >= 0), default=len(clean))
    return clean[left + 1 : right]


def _bound(statement: str, quantity: Quantity, window: Window) -> bool:
    """Where the evidence has several numbers of this unit, the claim's must stand nearest to the words that it is claimed for."""
    alike = [q for q in window.numbers if q.unit == quantity.unit or (not q.unit and not quantity.unit)]
    if len({q.value for q in alike}) < 2 or "||" in window.text:
        return True
    wanted = {t for t in terms(_around(statement, quantity.start, quantity.end)) if not t[0].isdigit()}
    mine = next(q for q in alike if same(quantity, q) or True)
    scores: dict[float, float] = {}
    for q in alike:
        clause = _around(window.text, q.start, q.end)
        share = len(wanted & set(terms(clause)))
        scores[q.value] = max(scores.get(q.value, 0.0), float(share))
    held = max((s for v, s in scores.items() if any(same(quantity, q) and q.value == v for q in alike)), default=0.0)
    del mine
    return held >= max(scores.values())
