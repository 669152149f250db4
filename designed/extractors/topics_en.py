"""Whether a name that an English sentence brings itself is an event or topic there. Pure."""

from __future__ import annotations

import re

from designed.extractors.flat import Flat
from designed.extractors.names import HAPPENED, Name

_ON_TOPICS = frozenset({"publish", "subscribe", "listen", "consume", "enqueue"})
_MESSAGING = _ON_TOPICS | {"broadcast", "emit"}


def is_topic(flat: Flat, name: Name, slot: str, lemma: str) -> bool:
    """Whether a name that the sentence brings itself is an event or topic here, and not a span, metric or file."""
    if slot not in ("", "to", "from", "on", "onto", "into", "for") and lemma != "enqueue":
        return False
    around = flat.text[max(0, name.start - 24) : name.start] + " | " + flat.text[name.end : name.end + 16]
    if re.search(
        r"\b(?:events?|topics?|queues?|messages?|stream|channel|exchange|subject)\b[ `*:(]*\|", around, re.IGNORECASE
    ) or re.search(
        r"\| ?[`*)]*\s*(?:domain |integration )?(?:events?|topics?|queues?|messages?|stream|channel)\b",
        around,
        re.IGNORECASE,
    ):
        return True
    if re.search(
        r"\b(?:span|metric|log|counter|gauge|histogram|attribute|header|flag|error|exception|file|variable|signal)s?\b",
        around,
        re.IGNORECASE,
    ):
        return False
    if lemma in ("wait", "await", "wake", "act", "pick"):
        return "." in name.raw.name or re.fullmatch(HAPPENED, name.raw.name) is not None
    return lemma in _MESSAGING and (slot == "" or lemma in _ON_TOPICS)
