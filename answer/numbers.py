"""Numbers of a statement against the evidence that it cites: value, unit, sign, and what the number is of. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answer.evidence import Evidence, Window
from answer.language import HANGUL, terms
from answer.quantities import COUNTED, Quantity, dates, label_near, quantities, same
from nexus.model.names import squash

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


_CUES = (
    ("first", re.compile(r"\bfirst\b|\bsince\b|\bbegan\b|최초|처음|부터", re.IGNORECASE)),
    ("last", re.compile(r"\blast\b|\blatest\b|\buntil\b|마지막|최근", re.IGNORECASE)),
)


def dates_reason(statement: str, evidence: Sequence[Evidence]) -> str:
    """Dates, times and versions occur in the evidence cited (a date without time matches one with), and for the same end of a range."""
    for date in dates(statement):
        places = [(w.text, k) for e in evidence for w in e.windows for k in dates(w.text) if _same_date(date, k)]
        if not places:
            return f"the evidence cited does not hold {date}"
        said = _cues(statement, date)
        known = {cue for text, k in places for cue in _cues(text, k)}
        if said and known and not said <= known:
            return f"the evidence has {date} for {min(known)}, not for {min(said)}"
    return ""


def _same_date(said: str, known: str) -> bool:
    return (
        known == said
        or known.startswith(f"{said} ")
        or (re.fullmatch(r"\d{1,2}:\d{2}", said) is not None and known.endswith(f" {said}"))
    )


def _cues(text: str, date: str) -> set[str]:
    """What a date is called where it stands, the first or the last, by the nearest such word before it (in Korean also behind it). First and last may be of one day, or of one minute."""
    shown = date if date in text else date.split(" ", maxsplit=1)[0]
    found = set()
    for place in re.finditer(re.escape(shown), text):
        before = [(m.start(), name) for name, pattern in _CUES for m in pattern.finditer(text, 0, place.start())]
        found |= {max(before)[1]} if before else set()
    return found


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
        holding = [(w, known) for w in _windows(statement, item) for known in w.numbers if same(quantity, known)]
        if not holding:
            reasons.append("no such number with this unit and sign in the evidence cited")
            continue
        if label and not any(_label_fits(label, w, known) for w, known in holding):
            reasons.append(f"the evidence has this number for something else than {label}")
            continue
        if item.kind == "edge" and not all(n & item.names for n in names):
            reasons.append("the number belongs to another name")
            continue
        if item.kind == "passage" and not _fits(statement, quantity, [(w, k) for w, k in holding], item):
            reasons.append("the evidence has this number in another statement")
            continue
        return ""
    return reasons[0] if reasons else "no evidence is cited for it"


def _windows(statement: str, item: Evidence) -> Sequence[Window]:
    """Of an edge: the lines of the operations that the statement names, else those that are about the whole edge."""
    if item.kind != "edge":
        return item.windows
    causes = [w for w in item.windows if w.text.startswith("cause: ")]
    flat = squash(statement)
    stated = [(w, names) for w in causes if (names := _operations(w.text))]
    both = [w for w, names in stated if all(squash(name) in flat for name in names)]
    named = both or [w for w, names in stated if any(len(squash(name)) > 3 and squash(name) in flat for name in names)]
    if named:
        return [
            *named,
            *(w for w in item.windows if w not in causes and not re.search(r"\d (?:calls?|messages?)\b", w.text)),
        ]
    return [w for w in item.windows if w not in causes]


def _operations(line: str) -> tuple[str, ...]:
    """The operations of a line that `answer.evidence.cause` wrote; publishing has only the caller's."""
    match = re.match(r"cause: (?:(.*) of )?.*? triggers (.*) on .*: \d+ ", line) or re.match(
        r"cause: (.*) of .*: \d+ ()", line
    )
    return tuple(name for name in match.groups() if name) if match else ()


def _label_fits(label: str, window: Window, known: Quantity) -> bool:
    there = label_near(window.text, known)
    return there == label or (not there and label in {"max", "min", "mean"})


_MOST = re.compile(
    r"\bat most\b|\bup to\b|\bmax\b|\b(?:no|not|cannot|can't)\b(?:\s+\w+){0,3}?\s+more than\b|\blimited to\b|최대|까지",
    re.IGNORECASE,
)
_LEAST = re.compile(r"\bat least\b|\bmin\b|\bno (?:less|fewer) than\b|최소", re.IGNORECASE)


def _fits(statement: str, quantity: Quantity, holding: Sequence[tuple[Window, Quantity]], item: Evidence) -> bool:
    """The number stands where the statement's other words stand: no other number of the passage, of the same kind, fits them better."""
    crossed = bool(HANGUL.search(_MARKER.sub("", statement))) != bool(HANGUL.search(item.text))
    if crossed:
        return True
    near = _terms(_around(statement, quantity.start, quantity.end))
    whole = _terms(_MARKER.sub(" ", statement))
    held, own = max(
        ((_score(near, whole, quantity, w, k), _clause(w, k)) for w, k in holding), key=lambda pair: pair[0]
    )
    heading = set(terms(item.quote))
    if near and held < 1 and not near & heading:
        return False
    # A number that the statement has as well is no rival: it says both.
    others = [q for q in quantities(statement) if q.start != quantity.start and q.unit == quantity.unit]
    rivals = [
        (w, k)
        for w in item.windows
        for k in w.numbers
        if not w.pair and not same(quantity, k) and _comparable(quantity, k) and not any(same(q, k) for q in others)
    ]
    if any(
        _of_other(near if others else whole, own, _clause(w, k))
        for w, k in rivals
        if k.unit == quantity.unit or not k.unit or not quantity.unit
    ):
        return False
    return _complete(own, whole) or held >= max((_score(near, whole, quantity, w, k) for w, k in rivals), default=0.0)


def _clause(window: Window, known: Quantity) -> frozenset[str]:
    return _terms(_around(window.text, known.start, known.end))


def _of_other(whole: frozenset[str], own: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the statement speaks of what another number is of: it takes a word from there in the place of one that stands here."""
    return bool((whole & other) - own) and bool(own - whole - other)


def _complete(own: frozenset[str], whole: frozenset[str]) -> bool:
    """Whether everything said of the number is in the statement."""
    return bool(own) and own <= whole


def _comparable(quantity: Quantity, known: Quantity) -> bool:
    return (
        quantity.unit == known.unit
        or not quantity.unit
        or not known.unit
        or (quantity.unit in COUNTED and known.unit in COUNTED)
    )


def _score(near: frozenset[str], whole: frozenset[str], quantity: Quantity, window: Window, known: Quantity) -> float:
    """Shared words: those around both numbers count most, then those of the whole statement; the same unit decides between equals."""
    clause = _terms(_around(window.text, known.start, known.end))
    everything = _terms(window.text)
    unit = 0.5 if quantity.unit == known.unit else 0.0
    # A long window shares more by chance.
    return _shared(near, clause) + 0.5 * _shared(whole, everything) + unit - 0.01 * len(everything)


def _terms(text: str) -> frozenset[str]:
    bounded = _LEAST.sub(" minimum ", _MOST.sub(" maximum ", text))
    return frozenset(t for t in terms(bounded) if not t[0].isdigit())


def _shared(mine: frozenset[str], theirs: frozenset[str]) -> float:
    return float(
        sum(
            t in theirs or (HANGUL.search(t) is not None and len(t) > 1 and any(t[:2] == o[:2] for o in theirs))
            for t in mine
        )
    )


_BREAK = re.compile(r"[,;()]|\s(?:and|but|or|then)\s|(?<=[고며])\s|(?<=지만)\s|[.!?](?=\s)")


def _around(text: str, start: int, end: int) -> str:
    clean = _MARKER.sub(" ", text)
    left = max((m.end() for m in _BREAK.finditer(clean, 0, start)), default=0)
    right = next((m.start() for m in _BREAK.finditer(clean, end)), len(clean))
    # Without the number itself and its unit: "minutes" says nothing of what lasts them.
    return clean[left:start] + " " + clean[end:right]
