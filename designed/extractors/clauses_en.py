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
from designed.extractors.subject_en import IMPLICIT, OTHER, Subject, be_before, opening_phrase, subject_of

_FINITE = frozenset({"verb", "be", "modal"})
_SAYING = frozenset({"name", "pron", "word"})
_STORES = frozenset({"cache", "db", "database", "store", "storage", "index", "queue", "bus", "broker", "stream"})
# Behind one of these a preposition waits for what the relative clause is about.
_STRANDS = frozenset({"prep", "stop", "comma", "conj", "close", "adv", "be", "modal"})


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
        elif item.kind == "comma" and opened in lexicon.SUBORDINATORS and _finite(items, index + 1):
            # ", once a lobby is full, asks B": back to the main clause.
            if main is OTHER:
                main = opening_phrase(items, 0, clause - 1)
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
            main = opening_phrase(items, clause, index)
    return found


def _opening(items: Sequence[Item], clause: int, index: int) -> bool:
    """Whether a comma ends a phrase before the subject: "Unlike the payment service, the order service ..."."""
    first = clause
    while first < index and items[first].kind == "det":
        first += 1
    return (
        first < index
        and items[first].kind != "name"
        and (items[first].kind in ("prep", "adv") or _new_clause(items, index))
    )


def _predicate(
    items: Sequence[Item], index: int, clause: int, opened: str, main: Subject, before: Sequence[Predicate]
) -> Predicate | None:
    item = items[index]
    be = be_before(items, index, clause)
    following = items[index + 1] if index + 1 < len(items) else None
    participle = item.form == "ed" or item.word in ("read", "hit")
    passive = participle and be
    shared = (
        index > 0
        and items[index - 1].kind in ("conj", "comma")
        and bool(before)
        and before[-1].clause == clause
        and before[-1].passive
    )
    reduced = (
        participle
        and not be
        and item.form == "ed"
        and (following is None or following.kind in ("prep", "adv"))
        and not _had_before(items, index, clause)
    )
    if item.word == "read" and not be and index and items[index - 1].kind == "prep" and items[index - 1].word == "as":
        reduced = True
    if shared and participle:
        # "is published by A and consumed by B"
        passive, reduced = not before[-1].reduced, before[-1].reduced
    # Who somebody else's purpose is of ("calls B to check it, then asks C") does not act.
    inherited = next(
        (
            p.subject
            for p in reversed(before)
            if p.clause == clause and (p.form not in ("base", "ing") or p.subject.how != "other")
        ),
        None,
    ) or opening_phrase(items, clause, index)
    subject, relative = subject_of(items, index, clause, opened, main, inherited, passive or reduced)
    if (
        subject is IMPLICIT
        and clause
        and before
        and [i.kind for i in items[clause:index] if i.kind in _SAYING] == ["pron"]
    ):
        # "A is fed by B, which calls C; it writes": who acted last.
        last = before[-1].subject
        subject = last if last.how == "named" and len(last.names) == 1 else subject
    made = Predicate(index, item.lemma, item.form, passive or reduced, reduced, subject, clause, relative)
    _arguments(items, made)
    if made.passive and not any(slot == "by" for slot, _ in made.arguments):
        made.arguments += _shared_agent(items, index, clause)
    if relative and items[index - 1].kind != "rel" and not any(slot == "" for slot, _ in made.arguments):
        made.arguments += _object_of(items, index, clause, main)
    return made


def _object_of(items: Sequence[Item], index: int, clause: int, main: Subject) -> list[tuple[str, Name | None]]:
    """What "that the gateway calls", "to which A subscribes" is about, with its slot: the name before it, or whoever presents it."""
    position = index - 1
    while position >= clause and items[position].kind != "rel":
        position -= 1
    left, slot = position - 1, ""
    if left > clause and items[left].kind == "prep":
        left, slot = left - 1, items[left].word
    elif index + 2 < len(items) and items[index + 1].kind == "prep" and items[index + 2].kind in _STRANDS:
        # "that A and B integrate with over REST"
        slot = items[index + 1].word
    while left > clause and (items[left].kind == "comma" or items[left].word.rstrip("s") in lexicon.CHANNELS):
        # "`x`, which", "the `x` event that".
        left -= 1
    before = items[left] if left >= clause else None
    if before is not None and before.kind == "name" and before.name is not None:
        return [(slot, before.name)]
    presented = any(i.word in lexicon.PRESENTING for i in items[clause : max(position, clause)])
    return [(slot, name) for name in main.names] if presented and main.how == "named" else []


def _shared_agent(items: Sequence[Item], index: int, clause: int) -> list[tuple[str, Name | None]]:
    """Who does both in "is checked by A and sent to B", "is hashed in A and then pushed to B"."""
    left = index - 1
    while left > clause and items[left].kind in ("conj", "adv", "comma"):
        left -= 1
    name = items[left].name if left > clause and left < index - 1 else None
    before = left - 1
    while before > clause and items[before].kind == "det":
        before -= 1
    done = name is not None and not name.passive and before > clause and items[before].word in ("by", "in", "inside")
    return [("by", name)] if done else []


def _finite(items: Sequence[Item], index: int) -> bool:
    """Whether a verb with its ending comes next."""
    while index < len(items) and items[index].kind in ("adv", "conj"):
        index += 1
    return index < len(items) and items[index].kind == "verb" and items[index].form == "s"


def _had_before(items: Sequence[Item], index: int, clause: int) -> bool:
    return any(
        i.kind == "modal" and i.word in ("has", "have", "had", "did") for i in items[max(clause, index - 3) : index]
    )


def _new_clause(items: Sequence[Item], index: int) -> bool:
    """Whether a new subject and its verb follow: ", and the payment service sends"."""
    content = False
    # "A and B call": two names share a verb in its base form.
    shared = items[index].kind == "conj" and index > 0 and items[index - 1].kind == "name"
    for item in items[index + 1 : index + 9]:
        if item.kind in ("adv", "neg") or (item.kind in ("det", "conj") and not content):
            continue
        if content and (item.kind == "det" or (item.kind == "prep" and item.word in ("in", "inside", "on", "of"))):
            # "and a job inside B reads"
            continue
        if item.kind in ("name", "pron") or item.kind == "word":
            content = True
        elif item.kind in _FINITE:
            return content and (item.kind != "verb" or item.form == "s" or (item.form == "base" and not shared))
        else:
            return False
    return False


def _arguments(items: Sequence[Item], made: Predicate) -> None:
    slot = ""
    index = made.index + 1
    seen_noun = False
    while index < len(items):
        item = items[index]
        if item.kind in ("stop", "sub", "be", "modal"):
            break
        if item.kind == "open" and (close := _clause_in_brackets(items, index)):
            # "`x` (published by A) and `y`": what stands in brackets is a sentence of its own.
            index = close + 1
            continue
        if item.kind == "close" and _opened(items, made.index):
            break
        if item.kind in {"rel", "verb"}:
            break
        if item.kind in ("comma", "conj") and (_new_clause(items, index) or _unknown_verb(items, index)):
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
            if not (
                _owned(items, index)
                or _apposed(items, index)
                or _kind_of_next(items, index)
                or (made.arguments and (_meant_as(items, index) or _store_of(items, index, made.arguments[-1][1])))
            ):
                made.arguments.append((slot, item.name))
        elif (item.word in ("it", "them") and slot in ("", "to") and not made.arguments and not seen_noun) or (
            item.kind == "word" and item.word in lexicon.SELVES and items[index - 1].word == "this"
        ):
            made.arguments.append((slot, None))
        elif item.kind == "word" and slot == "":
            seen_noun = True
            if item.word.rstrip("s") in lexicon.CHANNELS:
                made.asynchronous = True
            made.requested = made.requested or item.word in lexicon.REQUESTS
        index += 1
    made.end = index


def _unknown_verb(items: Sequence[Item], index: int) -> bool:
    """‘and purges the cache’, "and allow B to": another verb follows, though no frame knows it."""
    following = items[index + 1 : index + 3]
    if following and following[0].word in lexicon.CONTROL:
        return True
    return (
        len(following) == 2
        and following[0].kind == "word"
        and not following[0].code
        and following[0].word.endswith("s")
        and not following[0].word.endswith("ss")
        and following[1].kind == "det"
    )


def _clause_in_brackets(items: Sequence[Item], index: int) -> int:
    """The place of the bracket that closes the one at `index`, where a verb stands between; 0 for any other."""
    close = next((i for i in range(index, len(items)) if items[i].kind == "close"), 0)
    return close if any(item.kind == "verb" for item in items[index:close]) else 0


def _opened(items: Sequence[Item], index: int) -> bool:
    """Whether the item at `index` stands in brackets."""
    return next((i.kind == "open" for i in reversed(items[:index]) if i.kind in ("open", "close")), False)


def _apposed(items: Sequence[Item], index: int) -> bool:
    """‘the surge cache (Redis)’: what the store before the bracket is made of, and nothing beside it."""
    name, before = items[index].name, items[index - 2].name if index > 1 else None
    return (
        items[index - 1].kind == "open"
        and name is not None
        and name.product
        and before is not None
        and (before.kind == name.kind or items[index - 2].word.rsplit(" ", 1)[-1] in _STORES)
    )


def _kind_of_next(items: Sequence[Item], index: int) -> bool:
    """‘the PostgreSQL database `bookings`’: what the named store is made of."""
    name, following = items[index].name, items[index + 1].name if index + 1 < len(items) else None
    return (
        name is not None
        and name.product
        and following is not None
        and not following.product
        and following.kind == name.kind
    )


def _meant_as(items: Sequence[Item], index: int) -> bool:
    """‘uses Redis as a distributed cache’: what the one before it is for."""
    before = index - 1
    while before > 0 and items[before].kind in ("det", "word"):
        before -= 1
    return items[before].word == "as"


def _store_of(items: Sequence[Item], index: int, before: Name | None) -> bool:
    """‘the ActiveMQ broker of B’: whose the store is that is reached."""
    left = index - 1
    while left > 0 and items[left].kind == "det":
        left -= 1
    return items[left].word == "of" and before is not None and before.passive


def _owned(items: Sequence[Item], index: int) -> bool:
    """‘the old polling of B’: an activity that is somebody's, and nothing that is reached."""
    before = index - 1
    while before > 0 and items[before].kind == "det":
        before -= 1
    return (
        before > 0
        and items[before].word == "of"
        and items[before - 1].kind in ("word", "verb")
        and items[before - 1].word.endswith("ing")
    )


__all__ = ["Predicate", "predicates"]
