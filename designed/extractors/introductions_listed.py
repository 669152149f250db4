"""Names that stand where a document counts its services: headings below "Services", items below "consists of these components:". Pure."""

# ruff: noqa: E501  # patterns stay in one line each

from __future__ import annotations

import re
from collections.abc import Iterator

from designed.extractors.blocks import Block, Document
from designed.extractors.flat import Flat
from designed.extractors.introductions_en import Introduced
from designed.extractors.lexicon_en import VERBS
from designed.extractors.roles import role_of
from nexus.model.service import NodeKind
from nexus.model.technology import technology

_SECTION = re.compile(
    r"(?:the |our )?(?:[\w-]+ )?(?:services|microservices|components)|(?:[\w가-힣]+ )?(?:서비스|컴포넌트|구성 ?요소)(?: 목록| 구성)?",
    re.IGNORECASE,
)
# The sentence before a list.
_COUNTED = re.compile(
    r"(?:\b(?:services|microservices|components)(?: (?:are|include|as follows|below|running|deployed))*(?: the following)?"
    r"|\b(?:consists|composed|made up|built|comprises)\b[^.:]{0,40}\b(?:services|microservices|components|following)"
    r"|(?:서비스|컴포넌트|구성 ?요소)(?:들)?(?:로|으로|는|은)?[^.:]{0,20}(?:구성\S*|같\S*|이루어\S*))\s*[:.]?\s*$",
    re.IGNORECASE,
)
# A name alone, or before what it is: "Distributor", "Ruler (optional)", "Cart: keeps carts".
_ITEM = re.compile(
    r"(?P<name>[A-Za-z][\w&-]*(?: [A-Za-z][\w&-]*){0,2}|[가-힣]+(?: [가-힣]+)?)(?:\s*\([^()]*\))?\s*(?:[:–—]\s.*|\s-\s.*|$)",
    re.DOTALL,
)
# Headings and items that every document has.
_TEXTS = frozenset(
    "overview introduction architecture background summary description requirements prerequisites installation install usage configuration deployment testing tests example examples references notes faq other others "
    "misc security monitoring logging observability infrastructure communication diagram diagrams responsibilities features roadmap scaling caching hashing build run setup api apis list table dependencies variables and or of for with "
    "개요 소개 배경 요약 설명 설치 설정 배포 테스트 예시 참고 구성 목록 기타 보안 모니터링 로그 아키텍처".split()
)


def listed_names(document: Document) -> Iterator[tuple[Flat, Introduced]]:
    """Each name with its text; of one section or list all that are names, where most of them are."""
    for blocks in (*_below_sections(document), *_below_sentences(document)):
        found = [(document.flat(b.start, b.end), name) for b in blocks if (name := _name(document, b)) is not None]
        if len(found) > 1 and 2 * len(found) > len(blocks):
            yield from found


def _below_sections(document: Document) -> Iterator[list[Block]]:
    """The headings one level below each heading like "Services"."""
    heads = [block for block in document.blocks if block.kind == "heading"]
    for index, block in enumerate(heads):
        if _SECTION.fullmatch(document.flat(block.start, block.end).text.strip(" :")) is None:
            continue
        inner: list[Block] = []
        for other in heads[index + 1 :]:
            if other.level <= block.level:
                break
            if other.level == block.level + 1:
                inner.append(other)
        yield inner


def _below_sentences(document: Document) -> Iterator[list[Block]]:
    """The outermost items of each list behind a sentence that counts services."""
    items: list[Block] | None = None
    for block in document.blocks:
        if block.item and items is not None:
            if not any(parent is not block for parent in block.parents):
                items.append(block)
            continue
        if items and block.kind == "text" and block.indent:
            continue
        if items:
            yield items
        told = (
            block.kind == "text"
            and not block.item
            and _COUNTED.search(document.flat(block.start, block.end).text) is not None
        )
        items = [] if told else None
    if items:
        yield items


def _name(document: Document, block: Block) -> Introduced | None:
    flat = document.flat(block.start, block.end)
    match = _ITEM.match(flat.text)
    if match is None:
        return None
    name = match["name"]
    words = name.casefold().split()
    product = technology(name)
    if product is not None or role_of(name) is not None or words[0] in VERBS or not _TEXTS.isdisjoint(words):
        return None
    if len(name) < 3 or (name.islower() and " " in name):
        return None
    return match.start("name"), match.end("name"), name, NodeKind.SERVICE.value, "table"
