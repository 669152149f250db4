"""Names that running text introduces by a head noun: "the cart service", `orders` topic, `mail-worker`, "Fraud Engine", 알림 서버. Pure."""

# patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re
from collections.abc import Iterator

from designed.extractors import introductions_ko
from designed.extractors.blocks import Block, Document
from designed.extractors.flat import Flat
from designed.extractors.introductions_en import HEADS, Introduced, opens_sentence, titled_names
from designed.extractors.introductions_titles import KEBAB, KINDS, STOP, heading_name
from nexus.model.names import HANGUL_WORD
from nexus.model.service import NodeKind
from nexus.model.technology import technology

# Of these a name in lower case is one: "the order service", "the rider app".
_LOWER_HEADS = frozenset({"service", "microservice", "database", "topic", "gateway", "app", "portal"})
_PROSE_EN = re.compile(
    r"(?<![\w./-])((?:[A-Z][A-Za-z0-9&-]*(?:\s+(?:[A-Z][A-Za-z0-9&-]*|of|and(?=\s[A-Z]\w+\s(?i:service)))){0,2}|[a-z][a-z0-9]*(?:-[a-z0-9]+)*)\s+([Ss]ervice|[Mm]icroservice|API|[Gg]ateway|[Dd]atabase|[Tt]opic|[Qq]ueue|[Ss]erver|[Ww]orker|app|portal))(?=[\s.,;:)!?]|$|[가-힣])(?!\s+(?:types?|accounts?|discovery|mesh(?:es)?|levels?|tiers?|principals?|tokens?|objects?|definitions?)\b)"
)
_KEBAB_PROSE = re.compile(
    r"(?<![\w./:@{$-])[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(service|svc|api|gateway|server|worker|db|database|collector|engine|adapter|scheduler|processor|registry|orchestrator|bff|frontend|backend)(?![A-Za-z0-9_/-]|\.\w|:\d)"
)
_CODE_EN = re.compile(
    r"\s+(?:micro)?(service|topic|queue|event|events|database|stream|channel|exchange|message)s?\b", re.IGNORECASE
)
_CODE_KO = re.compile(r"\s?(마이크로서비스|서비스|토픽|이벤트|큐|데이터베이스)")
_LEAD_CODE_EN = re.compile(
    r"\b(service|topic|queue|event|database|stream|channel|exchange)\s+(?:named |called )?$", re.IGNORECASE
)
_SECTION = re.compile(r"services|components|microservices|서비스|컴포넌트|구성 ?요소", re.IGNORECASE)
# Without any of these a text introduces nothing.
_TELLING = re.compile(r"ervice|`|\*\*|[가-힣]|API|ateway|atabase|opic|ueue|erver|orker|event|-(?:svc|db)")
_HEAD = re.compile(HEADS)
_PROSE_HEAD = re.compile(r"ervice|API|ateway|atabase|opic|ueue|erver|orker|app|portal")


def text_names(document: Document, block: Block, section: str) -> Iterator[introductions_ko.Introduced]:
    """Names in a text block, each as (start, end, name, kind, how, aliases) of its flat text; `section` is the heading above."""
    source = document.text
    if _TELLING.search(source, block.start, block.end) is None and _HEAD.search(source, block.start, block.end) is None:
        return
    flat = document.flat(block.start, block.end)
    listed = _lead(flat) if block.item and _SECTION.search(section) else ()
    headed = _headed(flat) if _PROSE_HEAD.search(flat.text) else ()
    for found in (*listed, *_code(flat), *_kebab(flat), *headed, *titled_names(flat)):
        yield *found, ()
    if HANGUL_WORD.search(flat.text):
        yield from introductions_ko.korean_names(flat)


def _kebab(flat: Flat) -> Iterator[Introduced]:
    """`mail-worker`, with or without a code span."""
    for match in _KEBAB_PROSE.finditer(flat.text) if "-" in flat.text else ():
        yield *match.span(), match[0], KINDS.get(match[1], NodeKind.SERVICE).value, "code"


def _lead(flat: Flat) -> Iterator[Introduced]:
    """‘cart-service: keeps carts’ in a list of services."""
    lead = re.match(r"([A-Za-z가-힣][\w가-힣 -]{1,40}?)\s*(?:[:–—]|\s-\s)", flat.text)
    if lead is not None and (KEBAB.fullmatch(lead[1]) or heading_name(lead[1])[0]):
        yield lead.start(1), lead.end(1), lead[1], heading_name(lead[1])[1], "table"


def _code(flat: Flat) -> Iterator[Introduced]:
    """Code spans beside a noun that says what they are: `orders` topic, "the queue `mails`"."""
    for start, end in flat.code:
        name = flat.text[start:end].strip()
        if not re.fullmatch(r"[A-Za-z가-힣][\w가-힣.*/-]{1,60}", name) or name.startswith(("http", "./")):
            continue
        after = _CODE_EN.match(flat.text, end) or _CODE_KO.match(flat.text, end)
        said = after or _LEAD_CODE_EN.search(flat.text, max(0, start - 30), start)
        if said is None:
            continue
        kind = KINDS.get(said[1].casefold(), NodeKind.SERVICE)
        if kind is NodeKind.SERVICE and not re.fullmatch(
            r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*|[A-Z][A-Za-z0-9]+|[가-힣]+", name
        ):
            continue
        yield start, end, name, kind.value, "code"


def _headed(flat: Flat) -> Iterator[Introduced]:
    """‘the cart service’, "Billing API": words before a head noun."""
    for match in _PROSE_EN.finditer(flat.text):
        words = match[1].split()
        kind = KINDS.get(words[-1].casefold(), NodeKind.SERVICE).value
        while words and (words[0].casefold() in STOP or (words[0][0].isupper() and opens_sentence(words[0]))):
            words = words[1:]
        begin = match.end(1) - len(" ".join(words))
        # `telematics` topic: read as code.
        if not _is_name(flat.text, begin, words) or flat.in_code(begin):
            continue
        if KEBAB.fullmatch(words[0]):
            if not words[0].endswith(introductions_ko.COMPOUND_ENDS):
                yield begin, begin + len(words[0]), words[0], kind, "prose"
            continue
        yield begin, match.end(1), " ".join(words), kind, "prose"


def _is_name(text: str, begin: int, words: list[str]) -> bool:
    """Whether the words before a head noun, which is the last of them, are a name."""
    if (
        len(words) < 2
        or any(w.casefold() in STOP for w in words[:-1] if w not in ("of", "and"))
        or words[0].casefold() in ("if", "when", "for", "in", "see", "run", "once")
        or any(technology(w) is not None for w in words[:-1])
        or technology(" ".join(words[:-1])) is not None
    ):
        return False
    if words[0].islower():
        before = re.search(r"\b(?:the|The|our|Our|and|via|through|by|to|from)\s+$", text[:begin])
        return ("-" in words[0] or before is not None) and words[-1].casefold() in _LOWER_HEADS
    capital = len(words) == 2 and words[0][0].isupper() and words[1].islower()
    # "Session service" at the head of a sentence may be any; behind another word it is one.
    return not (
        capital
        and not re.search(r"\b[Tt]he\s+$", text[:begin])
        and not text[:begin].strip(" *_").rstrip('"')[-1:].isalnum()
    )
