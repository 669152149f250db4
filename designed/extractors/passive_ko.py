"""Korean passives: what is done to, by whom, through what; and what an event drives. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from designed.extractors.context_ko import implicit, make
from designed.extractors.names import Name
from designed.extractors.parse_ko import Verb, acts_at
from designed.extractors.statements import CALLS, SUBSCRIBES, Context, Statement, relation_of
from nexus.model.claim import Modality
from nexus.model.service import NodeKind


def passive_statements(
    verb: Verb, frame: dict[str, str], themes: list[Name], agents: list[Name], modality: Modality, context: Context
) -> Iterator[Statement]:
    """Statements of a passive verb with its themes and the names in 에 의해."""
    rule = f"{context.rule}.passive"
    acting = [a for a in agents if not a.passive]
    direct = frame.get("obj", "")
    if not acting and direct:
        acting = [a.name for a in verb.arguments if acts_at(a) and a.name is not None]
    only = any(a.only for a in verb.arguments)
    for agent in acting:
        for theme in themes:
            relation = relation_of(direct, theme.kind, brought=theme.brought)
            if relation and agent.key != theme.key:
                yield make(
                    relation,
                    agent,
                    theme,
                    rule,
                    verb.start,
                    Modality.EXCLUSIVE if only and modality is not Modality.FORBIDDEN else modality,
                    drawn="reversed",
                    exclusivity="only_by" if only else "",
                )
    yield from _driven(verb, frame, themes, modality, context)
    ways = [a.name for a in verb.arguments if a.role == "via" and a.name is not None and not a.name.passive]
    # "파일 서버를 거쳐 S3에 저장된다": what it goes through does it.
    doers = acting or (ways if not themes else []) or [s for s in implicit(context) if not s.passive]
    for argument in verb.arguments:
        if argument.name is None or argument.role not in ("goal", "obj", "via") or argument.name in acting:
            continue
        if any(t.topic for t in themes) and argument.name.kind == NodeKind.SERVICE:
            continue
        relation = relation_of(
            frame.get(argument.role, ""), argument.name.kind, brought=argument.name.brought, asynchronous=True
        )
        if argument.role == "via" and not argument.name.passive:
            # "게이트웨이를 통해 호출된다": the way in calls what the sentence is about.
            for theme in themes:
                if not theme.passive and theme.key != argument.name.key:
                    yield make(
                        CALLS,
                        argument.name,
                        theme,
                        rule,
                        verb.start,
                        Modality.EXCLUSIVE if argument.only and modality is not Modality.FORBIDDEN else modality,
                        gateway=argument.name.raw.name if argument.only else "",
                        exclusivity="only_via" if argument.only else "",
                        drawn="reversed",
                    )
            continue
        if relation and not (
            themes
            and not themes[0].passive
            and not acting
            and relation == CALLS
            and argument.name.kind == NodeKind.SERVICE
        ):
            yield from (
                make(relation, doer, argument.name, rule, verb.start, modality)
                for doer in doers
                if doer.key != argument.name.key
            )


def _driven(
    verb: Verb, frame: dict[str, str], themes: Sequence[Name], modality: Modality, context: Context
) -> Iterator[Statement]:
    """‘검색 색인은 `changed` 이벤트로 갱신된다’, "`paid` 이벤트가 배송 서비스에 전달된다": whoever an event reaches subscribes."""
    reached = [a.name for a in verb.arguments if a.name is not None and a.role in ("goal", "agent", "via")]
    pairs = []
    if frame.get("by") == "s":
        pairs = [(theme, topic) for theme in themes for topic in reached if topic.topic]
    elif frame.get("obj") == "p" and frame.get("goal") == "W":
        pairs = [(service, theme) for theme in themes for service in reached if theme.topic and not theme.product]
    for service, topic in pairs:
        if not service.passive:
            yield make(SUBSCRIBES, service, topic, f"{context.rule}.passive", verb.start, modality, drawn="reversed")
