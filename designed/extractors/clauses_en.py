"""Who does what in an English sentence: predicates with subject, voice and arguments. Pure.

One sentence, one frame a verb: an argument belongs to the verb before it, up to the next verb or clause. Nothing is paired
because it stands near.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from designed.extractors import lexicon_en as lexicon
from designed.extractors.items import Item
from designed.extractors.names import Name

_SKIP = frozenset({"adv", "modal", "be", "neg", "close"})
_FINITE = frozenset({"verb", "be", "modal"})


@dataclass(frozen=True, slots=True)
class Subject:
    """`how`: named, implicit (it, this service, nothing at all), part (a tool or handler of it), other (somebody else)."""

    how: str
    names: tuple[Name, ...] = ()


OTHER = Subject("other")
IMPLICIT = Subject("implicit")
PART = Subject("part")


@dataclass(slots=True)
class Predicate:
    """A frame verb at `index`. `passive` turns the roles round; `clause` is where its clause begins."""

    index: int
    lemma: str
    form: str
    passive: bool
    reduced: bool
    subject: Subject
    clause: int
    relative: bool = False
    # (slot, name) of what follows; a pronoun as direct object is ("", None).
    arguments: list[tuple[str, Name | None]] = field(default_factory=list)
    end: int = 0
    # "event", "message", ...: a noun of messaging as direct object.
    asynchronous: bool = False
    # "request", "call", ...: what is accepted is somebody's call.
    requested: bool = False


def predicates(items: Sequence[Item]) -> list[Predicate]:
    """Predicates in order."""
    found: list[Predicate] = []
    clause, main = 0, OTHER
    opened = ""
    verbed = False
    for index, item in enumerate(items):
        if item.kind in ("stop", "sub") or (item.kind in ("comma", "conj") and verbed and _new_clause(items, index)):
            clause, opened, verbed = index + 1, item.word, False
        elif item.kind == "comma" and verbed and opened in lexicon.SUBORDINATORS and _finite(items, index + 1):
            # ", once a lobby is full, asks B": back to the main clause.
            clause, opened, verbed = index + 1, ",", False
        elif item.kind == "comma" and not verbed and _opening(items, clause, index):
            clause, opened = index + 1, "comma"
        elif item.kind in ("be", "modal"):
            verbed = True
        elif item.kind == "verb":
            made = _predicate(items, index, clause, opened, main, found)
            if made is not None:
                found.append(made)
                if main.how == "other" and not made.relative:
                    main = made.subject
            verbed = True
        if not verbed and item.kind == "word" and item.word in lexicon.PRESENTING | lexicon.SIMULATING:
            verbed = True
        if main is OTHER and verbed and item.kind in ("be", "modal", "word"):
            main = _initial(items, clause, index)
    return found


def _opening(items: Sequence[Item], clause: int, index: int) -> bool:
    """Whether a comma ends a phrase before the subject: "Unlike the payment service, the order service ..."."""
    first = clause
    while first < index and items[first].kind == "det":
        first += 1
    return first < index and items[first].kind != "name" and (items[first].kind in ("prep", "adv") or _new_clause(items, index))


def _predicate(items: Sequence[Item], index: int, clause: int, opened: str, main: Subject, before: Sequence[Predicate]) -> Predicate | None:
    item = items[index]
    be = _be_before(items, index, clause)
    following = items[index + 1] if index + 1 < len(items) else None
    participle = item.form == "ed" or item.word in ("read", "hit")
    passive = participle and be
    shared = index > 0 and items[index - 1].kind in ("conj", "comma") and bool(before) and before[-1].clause == clause and before[-1].passive
    reduced = participle and not be and item.form == "ed" and (following is None or following.kind in ("prep", "adv")) and not _had_before(items, index, clause)
    if item.word == "read" and not be and index and items[index - 1].kind == "prep" and items[index - 1].word == "as":
        reduced = True
    if shared and item.form == "ed":
        # "is published by A and consumed by B"
        passive, reduced = not before[-1].reduced, before[-1].reduced
    subject, relative = _subject(items, index, clause, opened, main, before, passive or reduced)
    made = Predicate(index, item.lemma, item.form, passive or reduced, reduced, subject, clause, relative)
    _arguments(items, made)
    if relative and items[index - 1].kind != "rel" and not any(slot == "" for slot, _ in made.arguments):
        made.arguments += [("", name) for name in _object_of(items, index, clause, main)]
    return made


def _object_of(items: Sequence[Item], index: int, clause: int, main: Subject) -> list[Name]:
    """What "that the gateway calls" is about: the name before `that`, or whoever presents it."""
    position = index - 1
    while position >= clause and items[position].kind != "rel":
        position -= 1
    before = items[position - 1] if position > clause else None
    if before is not None and before.kind == "name" and before.name is not None:
        return [before.name]
    presented = any(i.word in lexicon.PRESENTING for i in items[clause : max(position, clause)])
    return list(main.names) if presented and main.how == "named" else []


def _be_before(items: Sequence[Item], index: int, clause: int) -> bool:
    position = index - 1
    while position >= clause and items[position].kind in ("adv", "neg", "modal"):
        position -= 1
    if position >= clause and items[position].kind == "be":
        return True
    # "is read and cached by": the auxiliary is shared.
    return position > clause and items[position].kind == "conj" and items[position - 1].kind == "verb" and items[position - 1].form == "ed" and _be_before(items, position - 1, clause)


def _finite(items: Sequence[Item], index: int) -> bool:
    """Whether a verb with its ending comes next."""
    while index < len(items) and items[index].kind in ("adv", "conj"):
        index += 1
    return index < len(items) and items[index].kind == "verb" and items[index].form == "s"


def _had_before(items: Sequence[Item], index: int, clause: int) -> bool:
    return any(i.kind == "modal" and i.word in ("has", "have", "had", "did") for i in items[max(clause, index - 3) : index])


def _new_clause(items: Sequence[Item], index: int) -> bool:
    """Whether a new subject and its verb follow: ", and the payment service sends"."""
    content = False
    for item in items[index + 1 : index + 9]:
        if item.kind in ("det", "adv", "conj") and not content:
            continue
        if item.kind in ("name", "pron") or item.kind == "word":
            content = True
        elif item.kind in _FINITE:
            return content and (item.kind != "verb" or item.form in ("s", "base"))
        else:
            return False
    return False


def _subject(
    items: Sequence[Item], index: int, clause: int, opened: str, main: Subject, before: Sequence[Predicate], passive: bool
) -> tuple[Subject, bool]:
    position = index - 1
    while position >= clause and items[position].kind in _SKIP:
        if position - 3 >= clause and [i.kind for i in items[position - 3 : position + 1]] == ["word", "open", "name", "close"]:
            # "The scheduling UI (`frontdesk-web`) talks to".
            return _phrase(items, position - 1, position - 1), False
        if items[position].kind == "close":
            while position >= clause and items[position].kind != "open":
                position -= 1
        position -= 1
    while position >= clause and items[position].kind == "det" and items[position].word in ("all", "both", "each"):
        position -= 1
    inherited = before[-1].subject if before and before[-1].clause == clause else _initial(items, clause, index)
    if position < clause:
        if clause == 0:
            form = items[index].form
            return (OTHER if form in ("base", "ing") and not passive else IMPLICIT), False
        if opened in ("comma", ",", "and", "or", "but", ";", ":", "then") and items[index].form != "s" and not passive:
            return main if main.how != "other" and items[index].form in ("ing", "ed") else OTHER, False
        return (main if main.how != "other" else IMPLICIT), False
    item = items[position]
    if item.kind == "rel":
        return _antecedent(items, position, clause, inherited), True
    if item.kind == "pron":
        return (main if clause > 0 and main.how == "named" else IMPLICIT), False
    if items[index].form == "s" and position - 3 >= clause and [i.kind for i in items[position - 3 : position + 1]] == ["word", "comma", "name", "comma"]:
        # "A new component, `reminder-worker`, consumes".
        return _phrase(items, position - 1, position - 1), False
    if item.kind in ("conj", "comma"):
        return inherited, False
    if item.kind == "prep":
        if item.word == "to" and items[index].form == "base":
            return _infinitive(items, position, clause, inherited, main), False
        if items[index].form == "ing" or passive:
            return (inherited if inherited.how != "other" else main), False
        return OTHER, False
    if item.kind in {"name", "word"}:
        relative = _object_relative(items, position, clause)
        if items[index].form == "ing" and not _be_before(items, index, clause):
            return _gerund(items, position, clause, inherited, main), False
        if passive and not _be_before(items, index, clause):
            # "tools loaded from X", "a cache, as read from Y": whoever the clause is about does it.
            return (inherited if inherited.how != "other" else main), False
        return _phrase(items, position, clause), relative
    if item.kind == "verb":
        return inherited, False
    return inherited if inherited.how != "other" else OTHER, False


def _phrase(items: Sequence[Item], position: int, clause: int) -> Subject:
    """The noun phrase that ends at `position`."""
    item = items[position]
    if item.kind == "name":
        names = [item.name]
        first = position
        while True:
            left = first - 1
            while left >= clause and items[left].kind in ("det", "adv"):
                left -= 1
            if left > clause and items[left].kind in ("conj", "comma"):
                further = left - 1
                while further >= clause and items[further].kind in ("conj", "comma", "det", "adv"):
                    further -= 1
                if further >= clause and items[further].kind == "name":
                    names.append(items[further].name)
                    first = further
                    continue
            break
        left = first - 1
        while left >= clause and (items[left].kind == "adv" or (items[left].kind == "word" and not items[left].code and items[left].word not in lexicon.PARTS)):
            left -= 1
        while left >= clause and items[left].kind == "det":
            left -= 1
        if left >= clause and items[left].kind == "prep" and items[left].word != "as":
            outer = _phrase(items, left - 1, clause) if left - 1 >= clause and items[left - 1].kind in ("word", "name") else OTHER
            if outer.how == "part" and items[left].word in ("of", "in", "inside", "on", "within"):
                return Subject("named", tuple(n for n in reversed(names) if n is not None))
            return outer
        if left >= clause and items[left].kind == "verb" and items[left].form != "ing":
            return OTHER
        return Subject("named", tuple(n for n in reversed(names) if n is not None))
    if item.kind == "word":
        left = position - 1
        while left >= clause and items[left].kind == "word":
            left -= 1
        if left >= clause and items[left].kind == "name" and (item.word in lexicon.PARTS or item.word.endswith("service")):
            return _phrase(items, left, clause)
        if left >= clause and items[left].kind == "prep" and items[left].word in ("of", "in", "for", "from", "with", "to", "by", "at", "on") and left - 1 >= clause:
            return _phrase(items, left - 1, clause)
        if item.word in lexicon.SELVES:
            determiner = items[left].word if left >= clause and items[left].kind == "det" else ""
            return IMPLICIT if determiner in ("this", "the", "our") and left == position - 1 else OTHER
        if item.code or item.word in lexicon.PARTS:
            return PART
    return OTHER


def _initial(items: Sequence[Item], clause: int, index: int) -> Subject:
    """The noun phrase at the head of a clause."""
    position = clause
    while position < index and items[position].kind in ("adv", "det", "conj", "comma"):
        position += 1
    if position >= index:
        return IMPLICIT if clause == 0 and index > clause else OTHER
    if items[position].kind == "prep":
        # "By default it ...": what the clause is about comes after the phrase.
        position += 1
        while position < index and items[position].kind in ("det", "word", "name", "adv") and not (items[position].kind == "det" and items[position - 1].kind in ("word", "name")):
            position += 1
        while position < index and items[position].kind in ("adv", "det", "comma"):
            position += 1
        if position >= index:
            return OTHER
    item = items[position]
    if item.kind == "pron":
        return IMPLICIT
    if item.kind == "name":
        names = []
        while position < index and items[position].kind in ("name", "conj", "comma", "det"):
            if items[position].kind == "name" and items[position].name is not None:
                names.append(items[position].name)
            position += 1
        if position < index and items[position].kind == "word" and items[position].word not in lexicon.PARTS and position + 1 < len(items) and items[position + 1].kind in ("be", "modal"):
            # "Recommendation charts are drawn": the charts are, not the service.
            return OTHER
        return Subject("named", tuple(n for n in names if n is not None))
    if item.kind == "word":
        determiner = items[position - 1].word if position > clause and items[position - 1].kind == "det" else ""
        if item.word in lexicon.SELVES:
            return IMPLICIT if determiner in ("this", "the", "our") else OTHER
        if item.code or item.word in lexicon.PARTS or (position + 1 < index and items[position + 1].kind == "word" and items[position + 1].word in lexicon.PARTS):
            return PART
        if clause == 0 and position == 0 and item.word.endswith("s") and not determiner:
            # "Provides a UI that calls X", "Validates and stores": a description without its subject.
            return IMPLICIT
    if item.kind == "verb" and item.form == "s":
        return IMPLICIT
    return OTHER


def _antecedent(items: Sequence[Item], position: int, clause: int, inherited: Subject) -> Subject:
    left = position - 1
    while left >= clause and items[left].kind in ("comma", "close", "adv"):
        left -= 1
    if left >= clause and items[left].kind == "name":
        found = items[left].name
        return Subject("named", (found,)) if found is not None else OTHER
    if any(i.word in lexicon.PRESENTING for i in items[clause:position]):
        return _initial(items, clause, position) if inherited.how == "other" else inherited
    if left >= clause and items[left].kind == "word" and (items[left].word in lexicon.PARTS or items[left].word in lexicon.SELVES):
        return PART if items[left].word in lexicon.PARTS else OTHER
    return OTHER


def _object_relative(items: Sequence[Item], position: int, clause: int) -> bool:
    """Whether a relative pronoun stands before the subject phrase: "the queue that the worker consumes"."""
    left = position
    while left >= clause and items[left].kind in ("name", "word", "det", "adv"):
        left -= 1
    return left >= clause and items[left].kind == "rel"


def _infinitive(items: Sequence[Item], position: int, clause: int, inherited: Subject, main: Subject) -> Subject:
    left = position - 1
    while left >= clause and items[left].kind in ("adv", "neg"):
        left -= 1
    if left >= clause and items[left].kind in ("name", "word", "pron"):
        start = left
        while start >= clause and items[start].kind in ("name", "conj", "comma", "det", "word", "pron") and items[start].word not in lexicon.CONTROL:
            start -= 1
        if start >= clause and items[start].word in lexicon.CONTROL:
            return IMPLICIT if items[left].kind == "pron" else _phrase(items, left, clause)
    if any(i.word in lexicon.CONTROL for i in items[clause:position]) and left >= clause and items[left].kind == "be":
        return inherited
    if any(i.word in lexicon.PURPOSE for i in items[clause:position]):
        return inherited if inherited.how != "other" else main
    return OTHER


def _gerund(items: Sequence[Item], position: int, clause: int, inherited: Subject, main: Subject) -> Subject:
    """"a job calling X", "simulates users requesting pages from X"."""
    if items[position].kind == "name":
        return _phrase(items, position, clause)
    if any(i.word in lexicon.SIMULATING for i in items[clause:position]):
        return inherited if inherited.how != "other" else main
    if items[position].word in lexicon.PARTS:
        return PART
    return OTHER


def _arguments(items: Sequence[Item], made: Predicate) -> None:
    slot = ""
    index = made.index + 1
    seen_noun = False
    while index < len(items):
        item = items[index]
        if item.kind in ("stop", "sub", "be", "modal"):
            break
        if item.kind in {"rel", "verb"}:
            break
        if item.kind in ("comma", "conj") and _new_clause(items, index):
            break
        if item.kind == "prep":
            following = items[index + 1] if index + 1 < len(items) else None
            after = items[index + 2] if index + 2 < len(items) else None
            if item.word == "to" and following is not None:
                if following.kind == "verb" and following.form == "base":
                    break
                if following.kind == "word" and not following.code and after is not None and after.kind == "det":
                    break
            if item.word not in ("of", "as", "like", "between", "about", "per"):
                slot = item.word
        elif item.kind == "name":
            if not _owned(items, index):
                made.arguments.append((slot, item.name))
        elif item.word in ("it", "them") and slot == "" and not made.arguments and not seen_noun:
            made.arguments.append(("", None))
        elif item.kind == "word" and item.word in lexicon.SELVES and items[index - 1].word == "this":
            made.arguments.append((slot, None))
        elif item.kind == "word" and slot == "":
            seen_noun = True
            if item.word.rstrip("s") in ("event", "message", "notification", "topic"):
                made.asynchronous = True
            made.requested = made.requested or item.word in lexicon.REQUESTS
        index += 1
    made.end = index


def _owned(items: Sequence[Item], index: int) -> bool:
    """‘the old polling of B’: an activity that is somebody's, and nothing that is reached."""
    before = index - 1
    while before > 0 and items[before].kind == "det":
        before -= 1
    return before > 0 and items[before].word == "of" and items[before - 1].kind in ("word", "verb") and items[before - 1].word.endswith("ing")


__all__ = ["IMPLICIT", "OTHER", "PART", "Predicate", "Subject", "predicates"]
