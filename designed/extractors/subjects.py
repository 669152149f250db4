"""What a document and its sections are about: the implicit subject of "This service calls B" and of table rows. Pure."""

# ruff: noqa: E501  # word lists and patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re

from designed.extractors.introductions_titles import PRESENTS, heading_name
from designed.reader import RawName
from nexus.model.registry import Registry
from nexus.model.service import NodeKind

# Words after a name that leave a heading about that name.
_ABOUT = re.compile(
    r"(?:\s*[-–—:|]\s.*|\s*(?:service|microservice|server|app|application|api|design|architecture|overview|guide|docs?|documentation|specification|spec|flow|flows|details|dependencies|integrations?"
    r"|implementation|internals|readme|reference|마이크로 ?서비스|서비스|시스템|설계|구조|아키텍처|개요|흐름|상세|명세|연동|구현|정의서|문서|설계서|외부|의존성|서비스의|호출|에서의?|에서)(?=\s|$|[의에]))+\s*(?:design|document|overview|dependencies|설계|문서|의존성|연동|호출|개요)?\s*$",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"^\s*(?:\d+(?:[.-]\d+)*[.)]?\s+|[①-⑳]\s*|[A-Z][.)]\s+|[^\w가-힣`*(\[]+)*")
_PASSIVE = frozenset({NodeKind.TOPIC.value, NodeKind.DATABASE.value})


_DEPENDENCY = re.compile(
    r"(?:의존성|연동|호출|의존|dependency|integration|client|call(?:s)?)(?:\s*\([^)]*\))?\s*$", re.IGNORECASE
)


_WHOLE = re.compile(
    r"(?:\b(?:platform|project|ecosystem|monorepo)|플랫폼|프로젝트)(?:\s+(?:overview|architecture|design|readme|docs|개요|구조|아키텍처|설계|소개))?\s*$",
    re.IGNORECASE,
)


def is_dependency(heading: str) -> bool:
    """‘Store Service 의존성’ inside another service's document: what that one depends on, and not a new subject."""
    return _DEPENDENCY.search(heading.strip(" *_`#:")) is not None


def is_whole(title: str) -> bool:
    """‘티켓 예매 플랫폼’, "Payroll platform overview": a title that names the whole, and none of its services."""
    return _WHOLE.search(title.strip(" *_`#:")) is not None


def subject_of(heading: str, registry: Registry) -> tuple[RawName, str] | None:
    """(name, key) of the service that a heading is about; None where it is about none, or about a store or topic."""
    bare = PRESENTS.sub("", _NUMBERING.sub("", heading)).strip(" *_`#:")
    bare = re.sub(r"\s*[(\[（][^)\]）]*[)\]）]\s*(?=$|\s)", " ", bare).strip(" *_`:")
    for candidate in (bare, *_shorter(bare)):
        if not candidate or len(candidate) > 60:
            continue
        found = registry.resolve(candidate)
        if found.entity is not None:
            if found.entity.kind in _PASSIVE:
                return None
            return RawName(found.entity.name, found.entity.kind), found.entity.rid
    gloss = re.search(r"\(([A-Za-z][\w-]+(?: [A-Za-z][\w-]+)?)\)", heading)
    if gloss is not None and (known := registry.resolve(gloss[1]).entity) is not None and known.kind not in _PASSIVE:
        return RawName(known.name, known.kind), known.rid
    name, kind = heading_name(heading)
    if name and kind not in _PASSIVE:
        return RawName(name, kind), f"name:{name.casefold()}"
    return None


def _shorter(bare: str) -> list[str]:
    """The heading without what only says what kind of text follows: "Checkout design" -> "Checkout"."""
    found = []
    words = bare.split()
    for count in range(len(words) - 1, 0, -1):
        rest = bare[len(" ".join(words[:count])) :]
        if _ABOUT.fullmatch(rest):
            found.append(" ".join(words[:count]).rstrip(" :-–—|"))
    return found
