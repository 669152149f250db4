"""What headings and titles name: "Checkout Service design", `cart-service`, "Basket microservice which includes:". Pure."""

# ruff: noqa: E501  # word lists and patterns stay in one line each

from __future__ import annotations

import re
from typing import Final

from designed.extractors.blocks import Document
from designed.extractors.introductions_en import HEADS
from designed.extractors.introductions_ko import full_name, korean_name, plain_name
from designed.extractors.roles import role_of
from nexus.model.service import NodeKind
from nexus.model.technology import technology

KINDS: Final[dict[str, NodeKind]] = {
    "database": NodeKind.DATABASE,
    "db": NodeKind.DATABASE,
    "cache": NodeKind.DATABASE,
    "데이터베이스": NodeKind.DATABASE,
    "topic": NodeKind.TOPIC,
    "queue": NodeKind.TOPIC,
    "event": NodeKind.TOPIC,
    "events": NodeKind.TOPIC,
    "토픽": NodeKind.TOPIC,
    "이벤트": NodeKind.TOPIC,
    "큐": NodeKind.TOPIC,
    "exchange": NodeKind.TOPIC,
    "stream": NodeKind.TOPIC,
    "channel": NodeKind.TOPIC,
    "message": NodeKind.TOPIC,
}
_HEADS = "service|microservice|server|api|gateway|proxy|database|db|topic|queue|worker|scheduler|processor|consumer|producer|frontend|backend|app|ui|engine|bff"
# Adjectives and determiners that make no name with "service".
STOP: Final = frozenset(
    "only whole entire very next previous final last the a an this that these those each every any all other another our your their its new old own same web micro rest restful grpc graphql http external internal downstream upstream "
    "managed cloud backend back-end front-end core main single multiple various many several some such public private local remote third-party given following first second last "
    "customer-facing existing separate dedicated shared common service services self in-house standalone kubernetes docker aws azure gcp google independent individual specific actual "
    "corresponding respective underlying real relevant target source message messaging streaming search-as-a caching storage high-quality quality of and or to for by with is are as on "
    "default custom additional optional required proprietary underlying in-memory relational nosql sql document open-source popular test mock sample demo example "
    "configuring enabling adding creating running building testing deploying exposing installing using starting accessing writing restarting updating setting "
    "calling called downstream-facing critical legacy stateless stateful simple small tiny background async asynchronous synchronous java python go node.js spring boot".split()
)
# What only says which kind of text a heading is of.
_KIND_OF_TEXT = re.compile(
    r"^(?:runbook|playbook|design(?: doc(?:ument)?)?|spec(?:ification)?|service|component|overview|architecture|readme|rfc[- ]?\d*)\s*[:–—-]\s+|\s+[-–—:|]\s+(?:technical |system |software |high[- ]level )?(?:design(?: doc(?:ument)?)?|runbook|playbook|overview|architecture|readme|spec(?:ification)?|docs?|guide)$",
    re.IGNORECASE,
)
# "Basket microservice which includes:"
PRESENTS: Final = re.compile(
    r"\s+(?:(?:which|that)\s+)?(?:includes?|contains?|offers?|features?|does|is responsible for)(?:\s+the following)?\s*[:;,.]*\s*$",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"^\s*(?:\d+(?:\.\d+)*[.)]?\s+|[①-⑳]\s*|[A-Z][.)]\s+)")
KEBAB: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
# Texts that may go on with a title's name.
_OPENING = 6
_EMOJI = re.compile(r"^[^\w가-힣`*\[(]+")


def heading_name(text: str) -> tuple[str, str]:
    """(name, kind) that a heading or title names as a thing; ("", "") where it names none."""
    bare = _EMOJI.sub("", _NUMBERING.sub("", _EMOJI.sub("", text.strip()))).strip(" *_`#:")
    bare = re.sub(r"\s*[(\[（][^)\]）]*[)\]）]\s*$", "", bare).strip(" *_`:")
    if role_of(bare) is not None:
        # "의존 서비스" heads a list of them.
        return "", ""
    about = _KIND_OF_TEXT.sub("", PRESENTS.sub("", bare))
    titled, bare = about != bare, about
    product = technology(bare)
    if product is not None:
        return bare, product[1].value
    if KEBAB.fullmatch(bare) and re.search(rf"-(?:{_HEADS}|svc|service)$", bare):
        return bare, KINDS.get(bare.rsplit("-", 1)[1], NodeKind.SERVICE).value
    words = bare.split()
    if (
        1 < len(words) <= 4
        and re.fullmatch(rf"(?:{_HEADS})", words[-1].casefold())
        and all(re.match(r"[\w&/-]+$", w) for w in words)
    ):
        if words[0].casefold() in STOP or any(
            w.casefold() in STOP and w.casefold() not in ("and", "of") for w in words[:-1]
        ):
            return "", ""
        return bare, KINDS.get(words[-1].casefold(), NodeKind.SERVICE).value
    if (
        titled
        and 1 < len(words) <= 4
        and re.fullmatch(rf"(?:{HEADS})", words[-1].capitalize())
        and words[0][0].isupper()
        and not any(w.casefold() in STOP for w in words)
    ):
        return bare, NodeKind.SERVICE.value
    if re.fullmatch(r"[A-Z][a-z]+(?:[A-Z][a-z]+)*(?:Service|Api|API|Gateway|Database|DB)", bare):
        return bare, NodeKind.SERVICE.value if not bare.endswith(("Database", "DB")) else NodeKind.DATABASE.value
    korean = full_name(bare)
    if korean is not None and korean_name(korean):
        return bare, NodeKind.SERVICE.value
    _, separator, last = bare.rpartition(" - ")
    if separator and (of_system := heading_name(last))[0]:
        # "Retail Sample - Checkout Service": the system and its part.
        return of_system
    return (bare, kind) if (kind := plain_name(bare)) else ("", "")


def own_title(document: Document, title: str) -> str:
    """‘Shopico Payment Service’ without the system's name, where the text below goes on with "Payment Service"."""
    system, _, own = title.strip().partition(" ")
    if " " not in own or not heading_name(own)[0]:
        return title
    opening = re.compile(rf"(?:^|[.!?]\s+)(?:The )?[`*]*{re.escape(own)}(?![A-Za-z0-9_-])", re.IGNORECASE)
    alone = re.compile(rf"(?<![\w-]){re.escape(system)}(?![\w-]|\s+{re.escape(own)})", re.IGNORECASE)
    texts = [b for b in document.blocks if b.kind == "text"][:_OPENING]
    begins = any(opening.search(document.flat(b.start, b.end).text) for b in texts)
    return own if begins and alone.search(document.text, document.blocks[0].end) is not None else title
