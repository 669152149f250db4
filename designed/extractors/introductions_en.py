"""Names that English text introduces without a head like "service": marked up beside a verb, or called what components are called. Pure."""

# ruff: noqa: E501  # word lists and patterns stay in one line each

from __future__ import annotations

import re
from collections.abc import Iterator

from designed.extractors import lexicon_en as lexicon
from designed.extractors.blocks import Block, Document
from designed.extractors.flat import Flat
from nexus.model.service import NodeKind
from nexus.model.technology import technology

# Last words of names, spelled with a capital: "Fraud Engine", "Results Collector".
HEADS = (
    "Hub|Engine|Adapter|Portal|Backend|Frontend|Manager|Collector|Sink|Store|Registry|Broker|Bridge|Router|Scheduler|Processor|Planner|Orchestrator|Worker|Client|App|Server|System|"
    "Platform|Proxy|Agent|Provider|Dispatcher|Indexer|Crawler|Aggregator|Notifier|Simulator|Vault|Warehouse|Cache|Connector|Importer|Exporter|Listener|Consumer|Producer|Publisher|Executor|Runner|Watcher|Loader|Fetcher|Forwarder|Receiver|Sender|Resolver|Validator|Generator|Evaluator|Updater|Poller|Controller|Mailer|Tracker|Monitor|Index"
)
_HEAD = re.compile(HEADS)
_TITLED = re.compile(rf"(?<![\w./-])((?:[A-Z][A-Za-z0-9&-]*\s+){{1,2}}(?:{HEADS}))(?![A-Za-z0-9_-])")
_KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_WORD = re.compile(r"[a-z]{3,}")
_PROPER = re.compile(r"[A-Z][\w&-]*(?: [A-Z][\w&-]*){0,2}")
_MARKS = re.compile(r"``?[a-z]|\*\*|`[A-Z]")
# Last words of names that stand for the whole name where a system has only one such thing ("the collector").
KINDS_ALONE = frozenset(
    "gateway collector 게이트웨이 broker hub engine adapter registry scheduler planner orchestrator worker portal bridge dispatcher".split()
)
# One word with a capital, and nothing of a longer name around it.
_CAPITAL = re.compile(r"(?=[A-Z])(?<![\w./@#$-])(?<![A-Z][a-z] )(?<![a-z] [A-Z])[A-Z][a-z]{3,}(?![\w/@-])(?! [A-Z])")
# People, places and habits of companies; and what documents are made of.
_NO_COMPONENT = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december "
    "users customers clients developers engineers operators admins support sales marketing finance legal operations security platform product team teams everyone nobody somebody "
    "alice carol dave figure section table step phase note warning tip english korean european american they these those there here what how why who where which while both neither either".split()
)
_AND = frozenset({"and", "or", "nor", ","})
_BOLD = re.compile(r"\*\*([A-Za-z][\w& -]{1,40}?)\*\*")
# Behind a name these say that it is no service.
_CHANNEL = re.compile(r"[`*]*\s+(?:topic|queue|event|stream|channel|exchange|message)s?\b", re.IGNORECASE)
_STORE = re.compile(r"[`*]*\s+(?:database|db|cache|bucket|tables?)\b", re.IGNORECASE)
_KINDS = {
    "db": NodeKind.DATABASE,
    "database": NodeKind.DATABASE,
    "cache": NodeKind.DATABASE,
    "topic": NodeKind.TOPIC,
    "queue": NodeKind.TOPIC,
    "events": NodeKind.TOPIC,
}
# Of these a component is the object; others ("uses `x`", "updates `x`") take anything.
_STRONG = frozenset(
    "call invoke query contact consult ask fan depend rely talk speak communicate interact integrate connect delegate forward route proxy dispatch send post hand push fetch retrieve pull notify trigger orchestrate coordinate".split()
)
_ACTING = _STRONG | frozenset(
    "read write publish emit produce broadcast subscribe listen consume store persist validate authenticate enqueue look keep save".split()
)
_TOOLS = frozenset(
    "api get put set new env sql url npm pip git app main docker-compose pre-commit docker-desktop kube-proxy create-react-app apt-get x-request-id content-type read-only at-least-once".split()
)
# Words with a capital that begin a sentence or name a product, and no component.
_NOT_FIRST = frozenset(
    "the a an this that our your each every any run start stop open deploy install configure restart build create update use see add set launch click select check enable disable when if for in on with docker "
    "compute android ios load package helm google apple amazon azure microsoft operating file new old other external internal most many some all both kubernetes node window device resource "
    "feign openfeign http https rest grpc web jdbc api sdk graphql test default unit integration client server cloud native custom "
    "secret secrets certificate boot application template search unit ci log logs".split()
)

# Verbs that tell a reader what to do or what there is; of others the base form is a word of names too ("Order", "Search").
_TELLING = frozenset(
    "implement implements implementing develop develops developing publish use using consume build builds building create creates creating add adds call configure configures deploy deploys run provides provide".split()
)

Introduced = tuple[int, int, str, str, str]


def opens_sentence(word: str) -> bool:
    """Whether a word with a capital is the sentence's and not a name's: "Implements Proxy", "Generally API"."""
    low = word.casefold()
    return (
        low in ("the", "a", "an", "our", "this", "each", "if", "when", "and")
        or (low.endswith("ally") and len(low) > len("reallys"))
        or lexicon.VERBS.get(low, ("", ""))[1] in ("s", "ing")
        or low in _TELLING
    )


def titled_names(flat: Flat) -> Iterator[Introduced]:
    """(start, end, name, kind, how): "Fraud Engine" and its like."""
    if _HEAD.search(flat.text) is None:
        return
    for match in _TITLED.finditer(flat.text):
        words = match[1].split()
        while words and opens_sentence(words[0]):
            words = words[1:]
        if len(words) < 2 or words[0].casefold() in _NOT_FIRST or technology(" ".join(words[:-1])) is not None:
            continue
        start = match.end(1) - len(re.split(r"\s+", match[1], maxsplit=len(match[1].split()) - len(words))[-1])
        yield (
            start,
            match.end(1),
            " ".join(words),
            NodeKind.DATABASE.value if words[-1] in ("Cache", "Warehouse") else NodeKind.SERVICE.value,
            "prose",
        )


def marked_names(document: Document) -> Iterator[tuple[Flat, Introduced]]:
    """Code spans and bold words that do, or are done to, what only components do and suffer, and the bold words that stand in one list with them."""
    found: list[tuple[Flat, Introduced, bool]] = []
    leads: dict[tuple[int, ...], list[tuple[Flat, Introduced, bool]]] = {}
    section = 0
    for block in document.blocks:
        section = block.start if block.kind == "heading" else section
        if block.kind == "text" and _MARKS.search(document.text, block.start, block.end) is not None:
            flat = document.flat(block.start, block.end)
            for start, end in [*flat.code, *_bold(document, block, flat)]:
                name = flat.text[start:end].strip()
                single = _WORD.fullmatch(name) is not None
                proper = _PROPER.fullmatch(name) is not None and (start, end) not in flat.code
                if not (single or proper or _KEBAB.fullmatch(name)) or name in _TOOLS or technology(name) is not None:
                    continue
                acts = _acts(flat.text, start, end) and not _CHANNEL.match(flat.text, end)
                kind = _KINDS.get(re.split(r"[- ]", name)[-1].casefold(), NodeKind.SERVICE)
                kind = NodeKind.DATABASE if _STORE.match(flat.text, end) else kind
                made = (start, end, name, kind.value, "code")
                if acts:
                    found.append((flat, made, single))
                if proper and block.item and start == 0 and name.casefold() not in _NOT_FIRST:
                    list_of = (section, *(p.start for p in block.parents if p is not block))
                    leads.setdefault(list_of, []).append((flat, made, acts))
    compound = {item[2] for _, item, single in found if not single}
    for flat, item, single in found:
        # One lower-case word may be a command or a function; among names of components it is one more.
        if not single or len(compound) > 1:
            yield flat, item
    for listed in leads.values():
        if sum(acts for _, _, acts in listed) > 1:
            yield from ((flat, item) for flat, item, acts in listed if not acts)


def proper_names(document: Document) -> Iterator[tuple[Flat, Introduced]]:
    """Words that a document spells with a capital inside sentences too, and lets do what only components do: "Pricing asks Dispatch".

    One such place may be chance; it takes two, and nowhere the same word in lower case.
    """
    acting: dict[str, list[tuple[Flat, int, int]]] = {}
    inside: set[str] = set()
    flats = [document.flat(block.start, block.end) for block in document.blocks if block.kind == "text"]
    for flat in flats:
        for match in _CAPITAL.finditer(flat.text):
            name = match[0]
            if (
                name.casefold() in _NOT_FIRST | _NO_COMPONENT | KINDS_ALONE
                or technology(name) is not None
                or flat.in_code(match.start())
            ):
                continue
            before = flat.text[: match.start()].rstrip(" \t\n*_`[(\"'")
            if before and (before[-1].isalnum() or before[-1] == ","):
                inside.add(name)
            if _acts(flat.text, *match.span()):
                acting.setdefault(name, []).append((flat, *match.span()))
    told = sorted(name for name, places in acting.items() if name in inside and len(places) > 1)
    small = {word for flat in flats for word in _WORD.findall(flat.text)} if told else ()
    for name in told:
        if name.casefold() not in small:
            flat, start, end = acting[name][0]
            one = name[:-1] if name.endswith("s") and lexicon.is_agent(name[:-1].casefold()) else name
            yield flat, (start, end, one, NodeKind.SERVICE.value, "prose")


def _bold(document: Document, block: Block, flat: Flat) -> Iterator[tuple[int, int]]:
    for match in _BOLD.finditer(document.text, block.start, block.end):
        start = next(
            (
                flat.starts[i] + match.start(1) - flat.sources[i]
                for i in range(len(flat.starts))
                if flat.sources[i] <= match.start(1) <= flat.sources[i] + len(match[1])
            ),
            None,
        )
        if start is not None and flat.text[start : start + len(match[1])] == match[1]:
            yield start, start + len(match[1])


def _acts(text: str, start: int, end: int) -> bool:
    after = re.findall(r"[A-Za-z']+|->|→|[^\sA-Za-z]", text[end : end + 48])
    while len(after) > 1 and after[0] in _AND and after[1][0].isupper():
        # "Neither A nor B may call".
        del after[:2]
    if after and after[0].casefold() in lexicon.PARTS:
        # "**Transcoder** workers pick jobs".
        after.pop(0)
    if len(after) > 2 and after[0].casefold() in lexicon.BE and after[2] == "by":
        return _verb(after[1], _STRONG, ("ed",))
    while after and (
        after[0].casefold() in lexicon.ADVERBS | lexicon.MODALS | lexicon.NEGATIONS or after[0] in (")", "]", "also")
    ):
        after.pop(0)
    if after and (after[0] in ("->", "→") or _verb(after[0], _ACTING, ("s", "base"))):
        return True
    before = re.findall(r"[A-Za-z']+|->|→|[^\sA-Za-z]", text[max(0, start - 48) : start])
    while before and before[-1].casefold() in lexicon.DETERMINERS | lexicon.ADVERBS:
        before.pop()
    if before and before[-1] in _AND:
        # "fans out to A and B".
        while before and (before[-1] in _AND or before[-1][0].isupper()):
            before.pop()
    if before and before[-1] in ("->", "→"):
        return True
    by = bool(before) and before[-1].casefold() in ("by", "via", "through")
    if (
        bool(before)
        and before[-1].casefold() in ("via", "through")
        and any(_verb(w, _ACTING, ("s", "base")) for w in before[-5:])
    ):
        # "reads balances through `bff`".
        return True
    if before and before[-1].casefold() in ("to", "with", "from", "on", "by", "via", "through"):
        before.pop()
        if before and before[-1] in ("it", "them"):
            # "forwards it to the Controller"
            before.pop()
    if before and before[-1] in ("out", "off", "up", "back"):
        before.pop()
    if by and before and before[-1].casefold().endswith("ed"):
        return _verb(before[-1], _ACTING, ("ed",))
    return bool(before) and _verb(before[-1], _STRONG, ("s", "base", "ing", "ed"))


def _verb(word: str, lemmas: frozenset[str], forms: tuple[str, ...]) -> bool:
    lemma, form = lexicon.VERBS.get(word.casefold(), ("", ""))
    return lemma in lemmas and form in forms
