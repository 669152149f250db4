"""What an English predicate states: its subject and arguments as sources and targets, active and passive. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from designed.extractors import lexicon_en as lexicon
from designed.extractors.clauses_en import Predicate
from designed.extractors.context_en import clause_span, implicit, modality_of, negated
from designed.extractors.flat import Flat
from designed.extractors.items import Item
from designed.extractors.names import Name
from designed.extractors.pronouns_en import meant, pronoun
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Context, Statement, relation_of
from designed.extractors.subject_en import Subject
from designed.extractors.topics_en import is_topic
from nexus.model.claim import Modality
from nexus.model.service import NodeKind

# "only A may", "no service other than A may".
_ONLY_BEFORE = re.compile(
    r"(?:^|[\s(])(?:only|(?:nobody|no one|nothing|none|no [\w-]+(?: [\w-]+)?),? (?:other than|but|except(?: for)?|besides|apart from))\s+(?:the\s+|a\s+)?[`*]*$",
    re.IGNORECASE,
)
_ONLY_READS = re.compile(r"[;,–—-]\s*(?:but |and )?(?:it |they )?(?:only|just)\s+(?:ever )?reads?\b", re.IGNORECASE)
_ONLY_VIA = re.compile(
    r"\b(?:only|exclusively|solely|must (?:always )?(?:go|pass|be routed|be made|be sent))\b", re.IGNORECASE
)
_ONLY_BEHIND = re.compile(r"[`*]*\s+(?:only|exclusively|alone)\b", re.IGNORECASE)


def frame_statements(
    flat: Flat,
    start: int,
    end: int,
    parts: Sequence[Item],
    predicate: Predicate,
    stop: int,
    context: Context,
    only_one: bool,
) -> Iterator[Statement]:
    """Statements of one predicate of the sentence [start, end); `stop` is the item where the next one begins, `only_one` a sentence of "the only service that"."""
    frame = lexicon.FRAMES[predicate.lemma]
    verb = parts[predicate.index]
    subject = _subject_names(predicate.subject, context, predicate)
    first, last = clause_span(parts, predicate, stop, start, end)
    clause = flat.text[first:last]
    lead = flat.text[first : verb.end]
    modality = modality_of(flat, start, end, verb.start, (clause, lead), negated(parts, predicate), context)
    if (
        modality is Modality.FORBIDDEN
        and predicate.lemma in lexicon.CHANGES
        and _ONLY_READS.search(flat.text, verb.end, end)
    ):
        # "never writes to B, it only reads"
        modality = Modality.ASSERTED
    if predicate.passive:
        yield from _passive(parts, predicate, frame, subject, modality, context)
        return
    if not subject and modality is Modality.FORBIDDEN and predicate.form == "base":
        # "Do not call the ledger from the cart."
        subject = [n for slot, n in predicate.arguments if slot == "from" and n is not None and not n.passive]
    if not subject:
        return
    arguments = [
        (slot, name or meant(frame.get(slot, ""), parts, predicate, context)) for slot, name in predicate.arguments
    ]
    pairs: list[tuple[str, Name]] = []
    for (slot, name), (_, written) in zip(arguments, predicate.arguments, strict=True):
        if name is None:
            continue
        # "makes a call to B"
        code = "C" if predicate.lemma == "make" and predicate.requested and slot == "to" else frame.get(slot, "")
        if written is not None and name.brought and not is_topic(flat, name, slot, predicate.lemma):
            continue
        if name.doubtful and predicate.lemma not in ("orchestrate", "coordinate"):
            continue
        if predicate.asynchronous and code == "R" and predicate.lemma in ("consume", "receive"):
            code = "S"
        if (
            slot == ""
            and code == "C"
            and not name.passive
            and not name.product
            and _modifies(flat.text, name)
            and predicate.lemma in ("use", "leverage", "utilize", "access", "request", "ask")
        ):
            continue
        relation = relation_of(
            code, name.kind, brought=name.brought, asynchronous=predicate.asynchronous or "event" in clause.casefold()
        )
        if relation:
            pairs.append((relation, name))
    if predicate.lemma == "accept" or (predicate.lemma == "receive" and predicate.requested):
        # "accepts anything from A and B", "receives orders from A": they call.
        for caller in [
            n for slot, n in arguments if n is not None and slot == "from" and not n.passive and not n.brought
        ]:
            for served in subject:
                if caller.key != served.key:
                    yield Statement(
                        CALLS,
                        caller.raw,
                        caller.key,
                        served.raw,
                        served.key,
                        f"{context.rule}.passive",
                        verb.start,
                        modality,
                        drawn="reversed",
                    )
    own = {s.key for s in subject}
    through = [
        name
        for slot, name in arguments
        if name is not None and slot in ("through", "via", "over", "using") and name.key not in own
    ]
    direct = [(relation, name) for relation, name in pairs if name not in through]
    # With somebody to reach, what stands after "via" is the way there.
    pairs = _named_topics(direct if any(relation == CALLS for relation, _ in direct) else pairs)
    exclusive, gateway = "", ""
    before = flat.text[start : verb.start]
    if only_one or (
        predicate.subject.names and _ONLY_BEFORE.search(flat.text[start : predicate.subject.names[0].start])
    ):
        exclusive = "only_by"
    elif through and (
        _ONLY_VIA.search(flat.text[verb.start : through[0].start] or before)
        or _ONLY_BEHIND.match(flat.text, through[0].end, end)
    ):
        exclusive, gateway = "only_via", through[0].raw.name
    for source in subject:
        for relation, target in pairs:
            rule = f"{context.rule}.{_rule(predicate, source)}"
            if through and not exclusive and relation == CALLS:
                yield from _halves(source, target, through, verb.start, modality, context)
                continue
            if relation == SUBSCRIBES and not target.topic and (brokers := [n for n in through if n.topic]):
                # "consumes messages of B through the broker": one subscribes, the other publishes.
                for broker in brokers:
                    yield Statement(
                        SUBSCRIBES,
                        source.raw,
                        source.key,
                        broker.raw,
                        broker.key,
                        f"{context.rule}.via",
                        verb.start,
                        modality,
                    )
                    yield Statement(
                        PUBLISHES,
                        target.raw,
                        target.key,
                        broker.raw,
                        broker.key,
                        f"{context.rule}.via",
                        verb.start,
                        modality,
                        drawn="reversed",
                    )
                continue
            yield Statement(
                relation,
                source.raw,
                source.key,
                target.raw,
                target.key,
                rule,
                verb.start,
                Modality.EXCLUSIVE if exclusive and modality is not Modality.FORBIDDEN else modality,
                gateway=gateway,
                exclusivity=exclusive,
            )


def _halves(
    source: Name, target: Name, through: Sequence[Name], verb: int, modality: Modality, context: Context
) -> Iterator[Statement]:
    """‘A calls B through T’: A depends on T, and T on B; through a broker, one publishes and the other subscribes."""
    rule = f"{context.rule}.via"
    for middle in through:
        if middle.topic:
            yield Statement(PUBLISHES, source.raw, source.key, middle.raw, middle.key, rule, verb, modality)
            if not target.passive:
                yield Statement(
                    SUBSCRIBES, target.raw, target.key, middle.raw, middle.key, rule, verb, modality, drawn="reversed"
                )
        else:
            yield Statement(CALLS, source.raw, source.key, middle.raw, middle.key, rule, verb, modality)
            yield Statement(CALLS, middle.raw, middle.key, target.raw, target.key, rule, verb, modality)


def _passive(
    parts: Sequence[Item],
    predicate: Predicate,
    frame: dict[str, str],
    subject: list[Name],
    modality: Modality,
    context: Context,
) -> Iterator[Statement]:
    verb = parts[predicate.index]
    arguments = [(slot, name or pronoun(context)) for slot, name in predicate.arguments]
    agents = [name for slot, name in arguments if name is not None and slot == "by"]
    rule = f"{context.rule}.passive"
    around = parts[max(predicate.clause, predicate.index - 4) : predicate.index + 2]
    # "may be called by A only"
    behind = parts[predicate.end - 1 : predicate.end]
    only = any(i.word in ("only", "exclusively", "solely", "alone") for i in (*around, *behind))
    themes = (
        subject
        if (predicate.subject.how in ("named", "implicit") or predicate.lemma in lexicon.WAYS_IN)
        and not predicate.reduced
        else []
    )
    left = predicate.index - 1
    if left > 0 and parts[left].kind == "open":
        # "`x` (published by A)"
        left -= 1
    while predicate.reduced and left > 0 and (parts[left].kind == "comma" or parts[left].word in lexicon.CARRIED):
        # "the `x` event, published by A"
        left -= 1
    if predicate.reduced and left >= 0 and parts[left].kind == "name":
        before = parts[left].name
        themes = [before] if before is not None else []
    opened_when = predicate.index > 0 and parts[predicate.index - 1].kind == "sub"
    if (
        predicate.reduced
        and agents
        and not themes
        and predicate.index
        and parts[predicate.index - 1].word in ("api", "apis", "endpoint", "endpoints", "interface")
    ):
        # "exposes an endpoint used by B": what is used is the subject's.
        themes = [s for s in subject if not s.passive]
    placed = predicate.lemma in ("call", "invoke", "reach", "reachable", "accessible") and any(
        slot == "from" for slot, _ in arguments
    )
    if placed or (opened_when and predicate.lemma in ("call", "invoke", "request", "query", "use", "contact", "reach")):
        # "when requested from Checkout", "is called from Shipping".
        agents += [name for slot, name in arguments if name is not None and slot == "from"]
        themes = themes or implicit(context)
    direct = frame.get("", "")
    if predicate.lemma in lexicon.TRIGGERS:
        # "is notified through the `x` topic"
        agents += [n for slot, n in arguments if n is not None and slot in ("through", "via", "on") and n.topic]
    if agents:
        for theme in themes:
            for agent in agents:
                if predicate.lemma in lexicon.TRIGGERS and agent.topic:
                    yield Statement(
                        SUBSCRIBES,
                        theme.raw,
                        theme.key,
                        agent.raw,
                        agent.key,
                        rule,
                        verb.start,
                        modality,
                        drawn="reversed",
                    )
                elif predicate.lemma in lexicon.BY_CALLED:
                    if not agent.topic:
                        yield Statement(CALLS, theme.raw, theme.key, agent.raw, agent.key, rule, verb.start, modality)
                elif not agent.passive:
                    relation = relation_of(
                        direct or ("C" if predicate.lemma in ("expose", "reachable", "accessible") else ""),
                        theme.kind,
                        brought=theme.brought,
                    )
                    if relation:
                        yield Statement(
                            relation,
                            agent.raw,
                            agent.key,
                            theme.raw,
                            theme.key,
                            rule,
                            verb.start,
                            Modality.EXCLUSIVE if only and modality is not Modality.FORBIDDEN else modality,
                            drawn="reversed",
                            exclusivity="only_by" if only else "",
                        )
    if predicate.lemma in lexicon.WAYS_IN:
        ways = [
            name
            for slot, name in arguments
            if name is not None and slot in ("through", "via", "behind") and not name.passive
        ]
        for theme in themes if not agents else []:
            for way in ways:
                if theme.kind != NodeKind.TOPIC and theme.key != way.key:
                    yield Statement(
                        CALLS,
                        way.raw,
                        way.key,
                        theme.raw,
                        theme.key,
                        rule,
                        verb.start,
                        Modality.EXCLUSIVE if only and modality is not Modality.FORBIDDEN else modality,
                        drawn="reversed",
                        gateway=way.raw.name if only else "",
                        exclusivity="only_via" if only else "",
                    )
        if ways:
            return
    # "orders are stored in Redis", "events are published to Kafka by A": the agent does what the active would say.
    doers = [a for a in agents if not a.passive] or (_doers(predicate, subject, context) if not agents else [])
    pairs: list[tuple[str, Name]] = []
    for slot, name in arguments:
        if name is None or slot in ("", "by") or name in agents:
            continue
        relation = relation_of(frame.get(slot, ""), name.kind, brought=name.brought, asynchronous=True)
        if relation:
            pairs.append((relation, name))
    for doer in doers:
        for relation, target in _named_topics(pairs):
            if doer.key != target.key:
                yield Statement(relation, doer.raw, doer.key, target.raw, target.key, rule, verb.start, modality)


def _doers(predicate: Predicate, subject: list[Name], context: Context) -> list[Name]:
    """Who does it, where no agent is named: for a reduced clause whoever the sentence is about, else the section's service."""
    if predicate.reduced:
        return [s for s in subject if not s.passive]
    if predicate.subject.how == "named" and any(not n.passive for n in predicate.subject.names):
        return []
    previous = [context.previous] if context.previous is not None else []
    return [s for s in implicit(context) or previous if not s.passive]


def _subject_names(subject: Subject, context: Context, predicate: Predicate) -> list[Name]:
    if subject.how == "named":
        return [n for n in subject.names if predicate.passive or not n.passive]
    if subject.how == "implicit":
        if (
            context.previous is not None
            and not context.previous.passive
            and not (context.fragment and context.subject is not None)
        ):
            return [context.previous]
        return implicit(context)
    return implicit(context) if subject.how == "part" else []


def _rule(predicate: Predicate, source: Name) -> str:
    if predicate.subject.how == "part":
        return "part"
    if source.start < 0:
        return "implicit"
    if predicate.subject.how == "implicit":
        return "pronoun"
    return "relative" if predicate.relative else "active"


def _named_topics(pairs: list[tuple[str, Name]]) -> list[tuple[str, Name]]:
    """Where a topic is named, the broker that carries it is not the target."""
    named = any(name.topic and not name.product for _, name in pairs)
    return [(relation, name) for relation, name in pairs if not (named and name.topic and name.product)]


def _modifies(text: str, name: Name) -> bool:
    """Whether a noun follows that the name only describes: "order data"."""
    following = re.match(r"[`*_\])]*\s+([a-z][\w-]*)", text[name.end : name.end + 30])
    if following is None or name.end > name.core:
        return False
    word = following[1]
    known = (
        word
        in lexicon.PREPOSITIONS
        | lexicon.SUBORDINATORS
        | lexicon.MODALS
        | lexicon.BE
        | lexicon.RELATIVES
        | lexicon.ADVERBS
        or word in ("and", "or", "but", "then", "as")
    )
    return not known and not word.endswith("ly")
