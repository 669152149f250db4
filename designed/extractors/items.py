"""An English sentence as items: names, frame verbs with their form, function words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from designed.extractors import lexicon_en as lexicon
from designed.extractors.names import Name

_WORD = re.compile(r"[A-Za-z][\w'’/]*(?:-[\w'’]+)*|\d[\w.,%:]*|[,;:()—–]|\.(?=\s)|->|→|[^\s\w]")
_PUNCTUATION = {
    ";": "stop",
    ":": "stop",
    "—": "stop",
    "–": "stop",
    ".": "stop",
    "(": "open",
    ")": "close",
    ",": "comma",
}
_NOUN_BEFORE = frozenset(
    "grpc http https rest rpc outgoing outbound incoming inbound downstream upstream api sql database synchronous asynchronous external internal network remote direct".split()
)


@dataclass(slots=True)
class Item:
    """One item. `kind`: name, verb, prep, conj, comma, sub, rel, be, modal, neg, det, pron, adv, word, stop, open, close.

    `word` is in lower case. A verb has `lemma` and `form` (base, s, ing, ed); `name` belongs to a name.
    """

    kind: str
    word: str
    start: int
    end: int
    name: Name | None = None
    lemma: str = ""
    form: str = ""
    code: bool = False


def items(text: str, start: int, end: int, names: Sequence[Name], code: Sequence[tuple[int, int]]) -> list[Item]:
    """Items of the sentence [start, end) of a flat text."""
    found: list[Item] = []
    position = start
    inside = sorted((n for n in names if start <= n.start < end), key=lambda n: n.start)
    spans = [(n.start, n.end, n) for n in inside]
    index = 0
    while position < end:
        if index < len(spans) and position >= spans[index][0]:
            first, last, name = spans[index]
            found.append(Item("name", text[first:last].casefold(), first, last, name))
            position = max(position, last)
            index += 1
            continue
        limit = spans[index][0] if index < len(spans) else end
        span = next(((a, b) for a, b in code if a <= position < b), None)
        if span is not None and span[1] <= limit:
            found.append(Item("word", text[position : span[1]].casefold(), position, span[1], code=True))
            position = span[1]
            continue
        match = _WORD.search(text, position, limit)
        if match is None:
            position = limit
            continue
        ahead = next((a for a, _ in code if position < a < match.start()), None)
        if ahead is not None:
            position = ahead
            continue
        found.append(_item(match[0], match.start(), match.end()))
        position = match.end()
    found = _phrased(found)
    _settle(found)
    return found


def _phrased(found: Sequence[Item]) -> list[Item]:
    """Two words that say one thing as one item: "out of" is "from"."""
    joined: list[Item] = []
    for item in found:
        last = joined[-1] if joined else item
        meant = lexicon.PHRASES.get((last.word, item.word)) if item.name is None and last.name is None else None
        if meant is not None:
            joined[-1] = Item(*meant, last.start, item.end)
        else:
            joined.append(item)
    return joined


def _item(word: str, start: int, end: int) -> Item:
    low = word.casefold().replace("’", "'")
    if low in _PUNCTUATION:
        return Item(_PUNCTUATION[low], low, start, end)
    for kind, known in (
        ("det", lexicon.NEITHER),
        ("conj", lexicon.NOR),
        ("neg", lexicon.NEGATIONS),
        ("be", lexicon.BE),
        ("modal", lexicon.MODALS),
        ("rel", lexicon.RELATIVES),
        ("sub", lexicon.SUBORDINATORS),
        ("pron", lexicon.PRONOUNS),
        ("det", lexicon.DETERMINERS),
        ("conj", frozenset({"and", "or", "but", "&", "then", "+"})),
    ):
        if low in known:
            item = Item(kind, low, start, end)
            if kind == "be" and low.endswith("n't"):
                item.code = False
            return item
    if low in lexicon.VERBS:
        lemma, form = lexicon.VERBS[low]
        return Item("verb", low, start, end, lemma=lemma, form=form)
    if low in lexicon.PREPOSITIONS:
        return Item("prep", low, start, end)
    if low in lexicon.ADVERBS or (low.endswith("ly") and len(low) > 4):
        return Item("adv", low, start, end)
    return Item("word", low, start, end)


def _settle(found: list[Item]) -> None:
    """Words that can be noun or verb, by what stands before them; `that` and `this` before a noun are determiners."""
    for index, item in enumerate(found):
        before = found[index - 1] if index else None
        after = found[index + 1] if index + 1 < len(found) else None
        if item.kind == "rel" and item.word == "that" and (before is None or before.kind in ("sub", "prep")):
            item.kind = "det"
        elif (
            item.word in ("this", "that")
            and after is not None
            and (
                after.kind in ("name", "word")
                and not (after.kind == "word" and after.word.endswith("s") and item.word == "that")
            )
        ):
            item.kind = "det" if item.word == "this" or before is None else item.kind
        elif (
            item.word == "used"
            and after is not None
            and after.word == "to"
            and index + 2 < len(found)
            and found[index + 2].form == "base"
            and (before is None or before.kind != "be")
        ):
            # "used to poll": no use of anything.
            item.kind, after.kind = "modal", "adv"
        elif item.kind == "verb":
            if _is_noun(item, before, after, found, index):
                item.kind = "word"
        elif item.word in lexicon.HOW_OFTEN and after is not None and after.kind == "word":
            item.kind = "word"
        elif (item.word == "no" and after is not None and after.word == "longer") or (
            item.kind == "conj" and item.word == "then" and before is not None and before.kind == "conj"
        ):
            item.kind = "adv"


# "let A call B", "makes A call B"
_LETS = frozenset("let lets letting make makes making have".split())


def _several(item: Item) -> bool:
    """‘The ingesters’, "the cart services": a name that takes a verb in its base form."""
    if not item.word.endswith("s") or item.name is None:
        return False
    return "service" in item.word or not item.name.raw.name.casefold().endswith("s")


def _is_noun(item: Item, before: Item | None, after: Item | None, found: list[Item], index: int) -> bool:
    if before is None:
        # "Requests are sent", "Queries the catalog": a noun is followed by a verb.
        follows = [i for i in found[index + 1 :] if i.kind != "adv"][:1]
        if item.form not in ("base", "s") or not follows:
            return False
        transitive = lexicon.FRAMES[item.lemma].get("") == "C"
        return follows[0].kind in ("be", "modal") or (
            follows[0].kind == "prep" and (transitive or follows[0].word not in lexicon.FRAMES[item.lemma])
        )
    while before is not None and before.kind == "adv" and index > 0:
        index -= 1
        before = found[index - 1] if index else None
    if before is None:
        return False
    if item.form == "ing":
        # "delegates payment processing to": a noun with its modifier.
        if (
            before.kind == "word"
            and after is not None
            and after.kind == "prep"
            and not before.code
            and before.word not in lexicon.PARTS
            and not before.word.endswith("s")
        ):
            return True
        if (
            before.kind == "name"
            and after is not None
            and after.kind == "prep"
            and index > 1
            and found[index - 2].kind == "verb"
        ):
            return True
        return before.kind == "det" or (after is not None and after.kind == "word" and before.kind == "det")
    if item.form == "ed":
        return before.kind == "det" and after is not None and after.kind == "word"
    if before.kind == "det":
        if before.word in ("all", "both", "each") and index > 1 and found[index - 2].kind in ("name", "pron", "word"):
            # "A, B and C all connect to D".
            return False
        return before.word != "that"
    if before.kind == "prep" and before.word != "to":
        return True
    if before.kind == "verb" and item.form in ("base", "s"):
        # "sends requests", "makes calls": a verb's object, unless the two are coordinated.
        return True
    if before.word.endswith("'s"):
        return True
    if before.kind == "word":
        if before.word in _NOUN_BEFORE or (before.word.endswith(("ing", "al", "ous", "ive")) and not before.code):
            return True
        # "user requests" is a noun phrase; "the handler requests quotes" is none.
        if item.form == "s":
            return not before.code and before.word not in lexicon.SELVES and before.word not in lexicon.PARTS
        return not before.word.endswith("s")
    if before.kind == "prep" and before.word == "to" and item.form == "s":
        return True
    if before.kind == "name" and index > 1 and found[index - 2].kind == "rel":
        # "which the ledger calls at night".
        return False
    if before.kind == "name":
        if item.form == "base":
            # "The services call X": a coordination of names takes the base form.
            coordinated = any(i.kind == "conj" or i.word in _LETS for i in found[max(0, index - 4) : index])
            return not coordinated and not _several(before) and item.word != "read"
        return (
            after is not None
            and after.kind in ("be", "modal", "prep")
            and after.word not in lexicon.FRAMES[item.lemma]
            and after.word != "directly"
        )
    return False
