"""Who an English clause is about: the noun phrase before a verb, its antecedent, or whoever the clause before was about. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from designed.extractors import lexicon_en as lexicon
from designed.extractors.items import Item
from designed.extractors.names import Name

# "In Q3 the gateway calls" has no comma either.
_TIME = re.compile(
    r"q[1-4]|h[12]|(?:19|20)\d\d|v?\d[\d.]*|production|staging|general|practice|future|parallel", re.IGNORECASE
)
_USERS = frozenset("users customers clients developers teams people services apps applications systems those".split())
_SKIP = frozenset({"adv", "modal", "be", "neg", "close"})


@dataclass(frozen=True, slots=True)
class Subject:
    """`how`: named, implicit (it, this service, nothing at all), part (a tool or handler of it), other (somebody else)."""

    how: str
    names: tuple[Name, ...] = ()


OTHER = Subject("other")
IMPLICIT = Subject("implicit")
PART = Subject("part")


def be_before(items: Sequence[Item], index: int, clause: int) -> bool:
    """Whether an auxiliary makes the verb at `index` passive or progressive."""
    position = index - 1
    while position >= clause and items[position].kind in ("adv", "neg", "modal"):
        position -= 1
    if position >= clause and (items[position].kind == "be" or items[position].lemma == "get"):
        return True
    # "is read and cached by": the auxiliary is shared.
    return (
        position > clause
        and items[position].kind == "conj"
        and items[position - 1].kind == "verb"
        and items[position - 1].form == "ed"
        and be_before(items, position - 1, clause)
    )


def subject_of(
    items: Sequence[Item], index: int, clause: int, opened: str, main: Subject, inherited: Subject, passive: bool
) -> tuple[Subject, bool]:
    """The subject of the verb at `index`, and whether it stands in a relative clause. `inherited`: of the verb before it; `main`: of the main clause."""
    position = index - 1
    while position >= clause and items[position].kind in _SKIP:
        if position - 3 >= clause and [i.kind for i in items[position - 3 : position + 1]] == [
            "word",
            "open",
            "name",
            "close",
        ]:
            # "The scheduling UI (`frontdesk-web`) talks to".
            return _phrase(items, position - 1, position - 1), False
        if items[position].kind == "close":
            while position >= clause and items[position].kind != "open":
                position -= 1
        position -= 1
    while position >= clause and items[position].kind == "det" and items[position].word in ("all", "both", "each"):
        position -= 1
    if position < clause:
        if clause == 0:
            form = items[index].form
            return (OTHER if form in ("base", "ing") and not passive else IMPLICIT), False
        if opened in ("comma", ",", "and", "or", "but", ";", ":", "then") and items[index].form != "s" and not passive:
            return main if main.how != "other" and items[index].form in ("ing", "ed") else OTHER, False
        return (main if main.how != "other" else IMPLICIT), False
    item = items[position]
    if item.kind == "word" and items[index].form == "base":
        # "A, B and the ops dashboard all use C"
        position = _coordinated(items, position, clause)
        item = items[position]
    if item.kind == "rel":
        return _antecedent(items, position, clause, inherited), True
    if item.kind == "pron":
        return (main if clause > 0 and main.how == "named" else IMPLICIT), False
    if (
        items[index].form == "s"
        and position - 3 >= clause
        and [i.kind for i in items[position - 3 : position + 1]] == ["word", "comma", "name", "comma"]
    ):
        # "A new component, `reminder-worker`, consumes".
        return _phrase(items, position - 1, position - 1), False
    if item.kind in ("conj", "comma"):
        return inherited, False
    if item.kind == "prep":
        if item.word == "to" and items[index].form == "base":
            return _infinitive(items, position, clause, inherited, main), False
        if items[index].form == "ing" or passive:
            # "awards miles upon receiving": the verb before is of no frame.
            opens = opening_phrase(items, clause, position) if items[index].form == "ing" else OTHER
            return next((s for s in (inherited, main, opens) if s.how != "other"), OTHER), False
        return OTHER, False
    if item.kind in {"name", "word"}:
        relative = _object_relative(items, position, clause)
        if items[index].form == "ing" and not be_before(items, index, clause):
            if items[index].word == "using" and item.word not in _USERS and _product_next(items, index):
                # "tracks inserts using the MySQL binlog": whoever tracks, uses.
                return (inherited if inherited.how != "other" else main), False
            return _gerund(items, position, clause, inherited, main), False
        if passive and not be_before(items, index, clause):
            # "tools loaded from X", "a cache, as read from Y": whoever the clause is about does it.
            return (inherited if inherited.how != "other" else main), False
        return _phrase(items, position, clause), relative
    if item.kind == "verb":
        return inherited, False
    return inherited if inherited.how != "other" else OTHER, False


def _product_next(items: Sequence[Item], index: int) -> bool:
    following = next((i for i in items[index + 1 : index + 4] if i.kind != "det"), None)
    return following is not None and following.name is not None and following.name.product


def _coordinated(items: Sequence[Item], position: int, clause: int) -> int:
    """The name before "and the ops dashboard", the noun that ends at `position`; `position` where there is none."""
    left = position
    while left >= clause and items[left].kind in ("word", "det"):
        left -= 1
    if left - 1 > clause and items[left].kind == "conj" and items[left].word == "and":
        left -= 2 if items[left - 1].kind == "comma" else 1
        return left if items[left].kind == "name" and left > clause else position
    return position


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
        while left >= clause and (
            items[left].kind == "adv"
            or (
                items[left].kind == "word"
                and not items[left].code
                and items[left].word not in lexicon.PARTS | lexicon.CONTROL
            )
        ):
            left -= 1
        while left >= clause and items[left].kind == "det":
            left -= 1
        timed = items[first - 1].kind == "word" and _TIME.fullmatch(items[first - 1].word) is not None
        if left >= clause and items[left].kind == "prep" and items[left].word not in lexicon.AT_TIMES and not timed:
            outer = (
                _phrase(items, left - 1, clause)
                if left - 1 >= clause and items[left - 1].kind in ("word", "name")
                else OTHER
            )
            if items[left].word == "from" and items[left - 1].word in lexicon.REQUESTS:
                # "Traffic from A reaches B"
                return Subject("named", tuple(n for n in reversed(names) if n is not None))
            if names[0] is not None and names[0].topic and left and items[left - 1].word in lexicon.CARRIED:
                # "Events on `x` are produced by": what is on the topic is the topic's.
                return Subject("named", (names[0],))
            if outer.how == "part" and items[left].word in ("of", "in", "inside", "on", "within"):
                return Subject("named", tuple(n for n in reversed(names) if n is not None))
            return outer
        if (
            left >= clause
            and items[left].kind == "verb"
            and items[left].form != "ing"
            and items[left].word not in lexicon.CONTROL
        ):
            return OTHER
        return Subject("named", tuple(n for n in reversed(names) if n is not None))
    if item.kind == "word":
        left = position - 1
        while left >= clause and items[left].kind == "word":
            left -= 1
        if (
            left >= clause
            and items[left].kind == "name"
            and (item.word in lexicon.PARTS or item.word.endswith("service"))
        ):
            return _phrase(items, left, clause)
        if (
            left >= clause
            and items[left].kind == "prep"
            and items[left].word in ("of", "in", "for", "from", "with", "to", "by", "at", "on")
            and left - 1 >= clause
        ):
            return _phrase(items, left - 1, clause)
        if item.word in lexicon.SELVES:
            determiner = items[left].word if left >= clause and items[left].kind == "det" else ""
            return IMPLICIT if determiner in ("this", "the", "our") and left == position - 1 else OTHER
        if item.code or item.word in lexicon.PARTS:
            return PART
    return OTHER


def opening_phrase(items: Sequence[Item], clause: int, index: int) -> Subject:
    """The noun phrase at the head of a clause."""
    position = clause
    while position < index and items[position].kind in ("adv", "det", "conj", "comma"):
        position += 1
    if position >= index:
        return IMPLICIT if clause == 0 and index > clause else OTHER
    if items[position].kind == "prep":
        # "By default it ...": what the clause is about comes after the phrase.
        position += 1
        while (
            position < index
            and items[position].kind in ("det", "word", "name", "adv")
            and not (items[position].kind == "det" and items[position - 1].kind in ("word", "name"))
            and not (items[position].kind == "name" and _TIME.fullmatch(items[position - 1].word))
        ):
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
        if (
            position < index
            and items[position].kind == "word"
            and items[position].word not in lexicon.PARTS
            and position + 1 < len(items)
            and items[position + 1].kind in ("be", "modal")
        ):
            # "Recommendation charts are drawn": the charts are, not the service.
            return OTHER
        return Subject("named", tuple(n for n in names if n is not None))
    if item.kind == "word":
        determiner = items[position - 1].word if position > clause and items[position - 1].kind == "det" else ""
        if item.word in lexicon.SELVES:
            return IMPLICIT if determiner in ("this", "the", "our") else OTHER
        if (
            item.code
            or item.word in lexicon.PARTS
            or (
                position + 1 < index
                and items[position + 1].kind == "word"
                and items[position + 1].word in lexicon.PARTS
            )
        ):
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
    carried = left
    while carried >= clause and items[carried].word.rstrip("s") in lexicon.CHANNELS:
        carried -= 1
    if clause <= carried < left and (topic := items[carried].name) is not None and topic.topic:
        return Subject("named", (topic,))
    if any(i.word in lexicon.PRESENTING for i in items[clause:position]):
        return opening_phrase(items, clause, position) if inherited.how == "other" else inherited
    if (
        left >= clause
        and items[left].kind == "word"
        and (items[left].word in lexicon.PARTS or items[left].word in lexicon.SELVES)
    ):
        return PART if items[left].word in lexicon.PARTS else OTHER
    return OTHER


def _object_relative(items: Sequence[Item], position: int, clause: int) -> bool:
    """Whether a relative pronoun stands before the subject phrase: "the queue that the worker consumes"."""
    left = position
    while left >= clause and items[left].kind in ("name", "word", "det", "adv", "conj"):
        left -= 1
    return left >= clause and items[left].kind == "rel"


def _infinitive(items: Sequence[Item], position: int, clause: int, inherited: Subject, main: Subject) -> Subject:
    left = position - 1
    while left >= clause and items[left].kind in ("adv", "neg"):
        left -= 1
    if left >= clause and items[left].kind in ("name", "word", "pron"):
        start = left
        while (
            start >= clause
            and items[start].kind in ("name", "conj", "comma", "det", "word", "pron")
            and items[start].word not in lexicon.CONTROL
        ):
            start -= 1
        if start >= clause and items[start].word in lexicon.CONTROL:
            return IMPLICIT if items[left].kind == "pron" else _phrase(items, left, clause)
    if any(i.word in lexicon.CONTROL for i in items[clause:position]) and left >= clause and items[left].kind == "be":
        return inherited
    if any(i.word in lexicon.PURPOSE for i in items[clause:position]):
        return inherited if inherited.how != "other" else main
    return OTHER


def _gerund(items: Sequence[Item], position: int, clause: int, inherited: Subject, main: Subject) -> Subject:
    """Who does what an -ing form says: "a job calling X", "simulates users requesting pages from X"."""
    if items[position].kind == "name":
        return _phrase(items, position, clause)
    if any(i.word in lexicon.SIMULATING for i in items[clause:position]):
        return inherited if inherited.how != "other" else main
    if items[position].word in lexicon.PARTS:
        return PART
    if items[position].word in lexicon.ASPECT:
        while position > clause and items[position - 1].kind in ("modal", "adv", "neg"):
            position -= 1
        return _phrase(items, position - 1, clause) if position > clause else OTHER
    return OTHER


__all__ = ["IMPLICIT", "OTHER", "PART", "Subject", "be_before", "opening_phrase", "subject_of"]
