"""Korean noun phrases in the roles that their particles give them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from designed.extractors import lexicon_ko as lexicon
from designed.extractors.names import Name
from designed.extractors.units_ko import Unit
from nexus.model.service import NodeKind


@dataclass(frozen=True, slots=True)
class Argument:
    """A noun phrase in its role: subj, topic, obj, goal, source, with, via, agent, bare. `name` None = no name. `only` = 만."""

    role: str
    name: Name | None
    noun: str
    only: bool = False


def arguments_of(units: Sequence[Unit], index: int) -> list[Argument]:
    """The noun phrase at `index` as what its particle makes it, one argument a name."""
    unit = units[index]
    role, noun = _role(units, index), unit.noun
    if role == "conjunct":
        # 와, 과, 및, comma before another name: the role of the next, and what both have (A와 B의 데이터).
        follow = index + 1
        while follow < len(units) and units[follow].kind == "np":
            role = _role(units, follow)
            if role != "conjunct":
                noun = noun or units[follow].noun
                break
            follow += 1
        else:
            role = "with"
    if not unit.names:
        role = "none" if unit.noun in lexicon.TIMES else role
        return [Argument(role, None, unit.noun, unit.only)]
    if unit.noun.split(" ")[-1] in lexicon.NOT_SERVICE:
        return [Argument(role, None, unit.noun, unit.only)]
    if unit.noun == "대신":
        return []
    if unit.particle in lexicon.AWAY and not noun:
        noun = lexicon.GIVER
    only = unit.only or (role in ("agent", "via") and units[index + 1].only)
    return [Argument(role, name, noun, only) for name in unit.names]


def _role(units: Sequence[Unit], index: int) -> str:
    unit = units[index]
    following = units[index + 1] if index + 1 < len(units) else None
    particle = unit.particle
    if particle == "로,":
        # "BFF는 게이트웨이로, ...": what the topic is.
        before = units[index - 1] if index else unit
        if (
            before.names
            and not before.noun
            and before.particle in lexicon.TOPIC
            and any(n.kind == NodeKind.SERVICE for n in unit.names)
        ):
            return "none"
        particle = "로"
    if following is not None and following.kind == "verb" and not following.passive:
        if following.stem in (lexicon.THROUGH, "거치", "경유") and particle in (*lexicon.OBJECT, ""):
            return "via"
        if following.stem == "의하" and particle == "에":
            return "agent"
        if following.stem in ("위하", "대하", "관하", "따르"):
            return "obj" if following.stem == "대하" and particle == "에" else "none"
    if particle in lexicon.WITH or particle in (",", "및", "/", "·"):
        return "conjunct" if following is not None and following.kind == "np" and following.names else "with"
    if particle in lexicon.SUBJECT:
        return "subj"
    if particle in lexicon.TOPIC:
        return "topic"
    if particle in lexicon.OBJECT:
        return "obj"
    if particle in ("로", "으로") and unit.names and unit.noun.split(" ")[-1] in lexicon.OFFERED:
        # "결제 서비스의 API로 거래를 읽는다"
        return "via"
    if particle in lexicon.GOAL:
        return "goal"
    if particle in lexicon.SOURCE:
        return "source"
    if particle in ("에서는", "에서도"):
        return "topic"
    if particle == "" and following is not None and following.kind == "verb":
        return "obj"
    if particle == "만":
        return "subj"
    return "none"
