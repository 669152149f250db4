"""English verb frames by stem: which argument of which verb makes which relation. Pure data and its forms.

A frame maps a slot (a preposition, or "" for the direct object) to a relation code:

`C` the subject calls it, `P` publishes to it, `S` subscribes to it, `W` writes (a topic is published to, anything else called),
`R` reads (a topic is subscribed to, anything else called), `d` changes it (a store).
Codes in lower case need a topic there: `p`, `s`.
"""

# ruff: noqa: E501, RUF024  # word lists stay in one line each; frames that share a table never change it

from __future__ import annotations

import re
from typing import Final

_TO = dict.fromkeys(("to", "into", "onto", "towards"), "W")
_IN = dict.fromkeys(("in", "into", "to", "on", "onto", "inside", "within"), "W")
_FROM = {"from": "R", "off": "R", "via": "", "in": ""}
_WITH = {"with": "C", "against": "C"}
# With nobody else to reach, the way is what is called: "charges the card through Stripe".
_BY_WAY = dict.fromkeys(("through", "via", "using"), "W")
_PUB = {
    "": "p",
    "to": "P",
    "on": "P",
    "onto": "P",
    "into": "P",
    "through": "p",
    "via": "p",
    "in": "p",
    "using": "p",
    "over": "p",
}
_SUB = {"": "s", "to": "S", "on": "S", "for": "S", "from": "R", "via": "s", "by": "s", "through": "s", "off": "s"}

FRAMES: Final[dict[str, dict[str, str]]] = {
    **dict.fromkeys(
        ("call", "invoke", "query", "contact", "consult", "ping", "hit", "front", "touch"),
        {"": "C", "on": "C", "to": "C", "into": "C"},
    ),
    "access": {"": "C"},
    "ask": {"": "C", "from": "C"},
    "tell": {"": "C"},
    "retry": {"": "C"},
    "go": {"through": "C", "via": "C"},
    "leave": {"to": "C"},
    "wait": {"for": "s", "on": "s"},
    "await": {"": "s"},
    "share": {"": "d"},
    "request": {"": "C", "from": "C"},
    "use": {"": "C"},
    "need": {"": "C"},
    "leverage": {"": "C"},
    "utilize": {"": "C"},
    "depend": {"on": "C", "upon": "C"},
    "rely": {"on": "C", "upon": "C"},
    "talk": {"to": "C", "with": "C"},
    "speak": {"to": "C", "with": "C"},
    **dict.fromkeys(("communicate", "interact", "integrate", "interface"), {"with": "C"}),
    **dict.fromkeys(("sync", "synchronize"), _WITH | _TO | {"from": "R"}),
    **dict.fromkeys(("connect", "open"), {"to": "C"}),
    "establish": {"to": "C", "with": "C"},
    "reach": {"": "C", "out": "C"},
    **dict.fromkeys(
        (
            "fan",
            "delegate",
            "forward",
            "submit",
            "relay",
            "route",
            "proxy",
            "dispatch",
            "transmit",
            "upload",
            "direct",
            "defer",
            "offload",
        ),
        dict(_TO),
    ),
    "send": dict(_TO) | _BY_WAY,
    "post": dict(_TO),
    "pass": dict(_TO),
    "hand": dict(_TO),
    "deliver": dict(_TO) | _BY_WAY,
    "report": dict(_TO),
    "push": dict(_TO) | _BY_WAY | {"on": "p"},
    "charge": dict(_BY_WAY),
    "export": dict(_TO),
    **dict.fromkeys(
        ("fetch", "retrieve", "get", "load", "pull", "obtain", "collect", "download", "acquire", "source", "gather"),
        dict(_FROM),
    ),
    "read": dict(_FROM) | {"": "R"},
    "scrape": {"": "C", "from": "R"},
    "poll": {"": "R", "from": "R"},
    **dict.fromkeys(
        (
            "store",
            "save",
            "persist",
            "cache",
            "record",
            "insert",
            "index",
            "archive",
            "keep",
            "serialize",
            "log",
            "maintain",
            "hold",
        ),
        _IN | _BY_WAY,
    ),
    "update": dict(_IN) | {"": "d"},
    "write": dict(_IN) | {"": "p"},
    "append": dict(_TO),
    **dict.fromkeys(("modify", "delete"), {"": "d", "from": "d", "in": "d"}),
    **dict.fromkeys(("purge", "invalidate", "evict"), {"": "d", "from": "d", "in": "d"} | _BY_WAY),
    "look": {"in": "C", "from": "C", "at": "C"},
    "fall": {"to": "C", "on": "C", "in": "C"},
    "accept": {},
    **dict.fromkeys(
        ("validate", "verify", "check", "authenticate", "authorize", "register", "reserve", "confirm", "resolve"),
        _WITH | dict.fromkeys(("through", "via"), "C"),
    ),
    **dict.fromkeys(("enrich", "aggregate", "derive", "ingest"), {"from": "R"}),
    **dict.fromkeys(("increment", "decrement"), {"in": "W"}),
    "wrap": {"": "C"},
    "populate": {"": "C", "from": "R"},
    **dict.fromkeys(("put", "place", "drop"), _IN | {"": "p"} | dict.fromkeys(("on", "onto"), "P")),
    "pick": {"from": "R", "off": "R", "": "s", "up": "s"},
    **dict.fromkeys(("wake", "act"), {"on": "s", "upon": "s", "by": "s"}),
    **dict.fromkeys(("mail", "email"), _BY_WAY | {"to": "W"}),
    **dict.fromkeys(("land", "dump"), dict(_IN)),
    "answer": {"from": "R"},
    **dict.fromkeys(("reconcile", "compare", "file"), dict(_WITH)),
    "pay": dict(_BY_WAY),
    "park": {"in": "p", "on": "p"},
    "drain": {"": "s", "from": "S"},
    "fill": {"": "p"},
    "feed": {"into": "W"},
    "kick": {"off": "C"},
    **dict.fromkeys(("notify", "alert", "inform"), {"": "C"}),
    "trigger": {"": "C"},
    **dict.fromkeys(("orchestrate", "coordinate"), {"": "C"}),
    "make": {},
    "execute": {"on": "C", "against": "C"},
    **dict.fromkeys(("publish", "emit", "produce", "broadcast", "fire", "raise", "enqueue", "stream"), dict(_PUB)),
    **dict.fromkeys(("subscribe", "listen"), dict(_SUB) | {"": ""}),
    "consume": {"": "R", "from": "R", "via": "s"},
    **dict.fromkeys(("process", "handle"), {"": "s", "from": "s"}),
    "receive": {"from": "s", "": "s", "by": "s", "via": "s", "through": "s", "on": "s"},
    **dict.fromkeys(("react", "respond"), {"to": "s"}),
    "dequeue": {"from": "S", "": "s"},
    "back": {},
    "power": {},
    "expose": {},
    "accessible": {},
    "reachable": {},
    "available": {},
    "drive": {},
}
# What the agent phrase of a passive means, where it differs from turning the active round: `C` the subject calls the agent.
BY_CALLED: Final = frozenset({"back", "power"})
# "is exposed through G", "is reached via G": G calls the subject.
WAYS_IN: Final = frozenset(
    {
        "accessible",
        "reachable",
        "available",
        "expose",
        "access",
        "reach",
        "front",
        "route",
        "call",
        "invoke",
        "serve",
        "proxy",
    }
)
CHANGES: Final = frozenset({"write", "modify", "update", "delete"})
TRIGGERS: Final = frozenset({"trigger", "drive", "feed", "wake", "invoke", "notify"})
# "X lets Y call Z": the subject of the infinitive is the object.
CONTROL: Final = frozenset(
    "allow allows allowed let lets enable enables enabled permit permits cause causes require requires configure configures configured tell tells instruct instructs prevent prevents force forces "
    "make makes made forbid forbids prohibit prohibits expect expects allowing letting enabling".split()
)
# Verbs whose purpose clause is the subject's own doing: "uses Kafka to publish events".
PURPOSE: Final = frozenset(
    "use uses using used need needs want wants try tries is are be responsible able supposed designed configured continue continues start starts begin begins intended order needed required has have "
    "ready connects connect acts exists allows going".split()
)
# A clause with one of these hands its subject to "X provides a UI that calls Y".
PRESENTING: Final = frozenset(
    "is are was be provide provides expose exposes run runs has have contain contains include includes offer offers implement implements host hosts serve serves act acts".split()
)
# "stopped calling B": who stopped, called.
ASPECT: Final = frozenset(
    "stop stops stopped quit start starts started begin begins began keep keeps kept continue continues continued avoid avoids".split()
)
SIMULATING: Final = frozenset(
    "simulate simulates imitate imitates generate generates mimic mimics fake fakes emulate emulates simulating imitating".split()
)

IRREGULAR: Final[dict[str, tuple[str, str]]] = {
    "send": ("sent", "sent"),
    "get": ("got", "gotten"),
    "read": ("read", "read"),
    "write": ("wrote", "written"),
    "keep": ("kept", "kept"),
    "hit": ("hit", "hit"),
    "make": ("made", "made"),
    "fall": ("fell", "fallen"),
    "speak": ("spoke", "spoken"),
    "hold": ("held", "held"),
    "drive": ("drove", "driven"),
    "feed": ("fed", "fed"),
    "put": ("put", "put"),
    "tell": ("told", "told"),
    "go": ("went", "gone"),
    "leave": ("left", "left"),
    "wake": ("woke", "woken"),
    "pay": ("paid", "paid"),
}


def _forms(lemma: str) -> dict[str, str]:
    """Form -> kind: base, s, ing, ed (past or participle)."""
    if lemma.endswith(("s", "sh", "ch", "x", "z")) or lemma == "go":
        third = lemma + "es"
    elif lemma.endswith("y") and lemma[-2] not in "aeiou":
        third = lemma[:-1] + "ies"
    else:
        third = lemma + "s"
    short = lemma in {"get", "hit", "submit", "log", "fan", "put", "drop", "wrap"}
    stem = lemma[:-1] if lemma.endswith("e") else lemma + lemma[-1] if short else lemma
    found = {lemma: "base", third: "s", stem + "ing": "ing"}
    if lemma in IRREGULAR:
        found |= dict.fromkeys((form for form in IRREGULAR[lemma] if form != lemma), "ed")
    else:
        found[stem[:-1] + "ied" if stem.endswith("y") and stem[-2] not in "aeiou" else stem + "ed"] = "ed"
    return found


# Things that act, of which a system runs several; but people act too, and others are acted on.
_AGENT = re.compile(r"[a-z]{3,}(?:er|or)|gateway|frontend|backend")
_PEOPLE = frozenset(
    "user customer buyer seller rider driver courier partner member player teacher author editor visitor operator developer administrator supplier carrier retailer subscriber viewer sender owner reader writer borrower lender "
    "order offer voucher number letter paper parameter filter header folder layer error color factor sensor vector author monitor transfer server container cluster".split()
)


def is_agent(word: str) -> bool:
    """Whether a word in lower case tells something that acts: its plural means the instances of one component."""
    return _AGENT.fullmatch(word) is not None and word not in _PEOPLE


# Form -> (lemma, kind of form).
VERBS: Final[dict[str, tuple[str, str]]] = {
    form: (lemma, kind) for lemma in FRAMES for form, kind in _forms(lemma).items()
}
# "is reachable through the gateway" reads like a passive.
for _word in ("accessible", "reachable", "available"):
    for _form in [form for form, (lemma, _) in VERBS.items() if lemma == _word]:
        del VERBS[_form]
    VERBS[_word] = (_word, "ed")
VERBS["synchronise"] = ("synchronize", "base")

PREPOSITIONS: Final = frozenset(
    "to from of on in into onto at by with through via for over against upon about between behind using inside within off towards without under across during per as like unlike besides despite except than among".split()
)
# Two words that say one thing: (kind, word).
PHRASES: Final[dict[tuple[str, ...], tuple[str, str]]] = {
    ("out", "of"): ("prep", "from"),
    ("in", "on"): ("prep", "on"),
    # "connects to the service provided by B"
    **{(word, "by"): ("prep", "of") for word in ("provided", "offered", "hosted")},
    **{
        tuple(phrase.split()): ("adv", phrase)
        for phrase in (
            "in turn",
            "in parallel",
            "in return",
            "at startup",
            "on startup",
            "at boot",
            "at runtime",
            "on demand",
        )
    },
}
# Before a name these stand for no place of it: "during the migration the gateway calls", "as A".
AT_TIMES: Final = frozenset({"as", "during", "throughout", "than"})
SUBORDINATORS: Final = frozenset(
    "when whenever if while because so after before once unless until where although though whereas since whether therefore however otherwise instead".split()
)
RELATIVES: Final = frozenset({"that", "which", "who", "whose"})
BE: Final = frozenset("is are was were be been being isn't aren't wasn't weren't".split())
MODALS: Final = frozenset(
    "will would can could may might must shall should does do did has have had cannot can't won't doesn't don't didn't mustn't shouldn't couldn't".split()
)
NEGATIONS: Final = frozenset(
    "not never cannot can't won't doesn't don't didn't mustn't shouldn't isn't aren't wasn't weren't couldn't".split()
)
# "Neither A nor B calls C", "A calls neither B nor C": what they stand before is denied.
NEITHER: Final = frozenset({"neither"})
NOR: Final = frozenset({"nor"})
DETERMINERS: Final = frozenset(
    "the a an its their our your this that these those each every any all some both several many other another no new his her".split()
)
PRONOUNS: Final = frozenset("it they this itself".split())
ADVERBS: Final = frozenset(
    "also only then directly first finally asynchronously synchronously always usually often periodically continuously currently internally subsequently next never still now already just simply "
    "automatically further additionally sometimes either both again later longer immediately regularly not optionally transparently securely mainly primarily eventually".split()
)
# Adverbs, but for those before a noun: "a nightly job".
HOW_OFTEN: Final = frozenset("hourly daily nightly weekly monthly yearly quarterly".split())
# Parts of a component: what they do, it does.
# Who sends one of these to "accepts requests from B" calls it.
REQUESTS: Final = frozenset(
    "request requests call calls query queries traffic order orders command commands upload uploads connection connections submission submissions webhook webhooks alert alerts notification notifications "
    "sample samples payload payloads instruction instructions".split()
)
# Between the name of an event and what is said of it: "the `x` domain events that".
CHANNELS: Final = frozenset({"event", "message", "notification", "topic", "domain", "integration"})
# What a topic carries.
CARRIED: Final = frozenset("event events message messages record records entry entries".split())
PARTS: Final = frozenset(
    "tool tools handler handlers server worker workers job jobs process processes app application component module modules function functions endpoint endpoints controller controllers code library "
    "backend implementation thread scheduler listener daemon script scripts middleware container pod pods instance instances api wrapper client plugin method methods resolver resolvers loop task tasks "
    "cron cronjob timer batch consumer producer sidecar agent adapter repository class logic layer integration binary extension hook filter ui".split()
)
SELVES: Final = frozenset({"service", "microservice", "component", "application", "app", "system", "module"})
PROTOCOLS: Final = {
    "http": "http",
    "https": "http",
    "rest": "http",
    "restful": "http",
    "grpc": "grpc",
    "graphql": "graphql",
    "websocket": "websocket",
    "websockets": "websocket",
    "tcp": "tcp",
    "amqp": "amqp",
    "mqtt": "mqtt",
    "jdbc": "jdbc",
    "sql": "sql",
    "soap": "soap",
    "thrift": "thrift",
    "smtp": "smtp",
    "udp": "udp",
    "kafka": "kafka",
    "feign": "http",
    "openfeign": "http",
}
