"""Names that Korean text introduces: 결제 서비스, 로그인 서버, 심평원 API, 결제(pay). Pure but for the tagger."""

# ruff: noqa: E501  # word lists and patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re
from collections.abc import Iterator

from designed.extractors.flat import Flat
from nexus.model.mentions import KO_ALONE
from nexus.model.service import NodeKind
from nexus.model.technology import technology

# What a thing is, behind its name. Behind 서비스 and its like anything is a name; the others need a noun before them.
_HEADS = "마이크로서비스|서비스|시스템|게이트웨이"
_PLAIN_HEADS = "서버|앱|API|DB|데이터베이스|저장소|워커|매니저|엔진|플랫폼|어댑터|포털|스케줄러|클라이언트|프런트엔드|프론트엔드|백엔드|봇|툴|콘솔|배치"
# Without one of these there is nothing to look for.
_HEAD, _PLAIN_HEAD = re.compile(_HEADS), re.compile(_PLAIN_HEADS)
_KINDS = {"DB": NodeKind.DATABASE, "데이터베이스": NodeKind.DATABASE, "저장소": NodeKind.DATABASE}
_NAME = re.compile(rf"([가-힣A-Za-z0-9-]*[가-힣A-Za-z0-9])( ?)({_HEADS})(?![가-힣]*(?:업|센터|명|별|형|화|들|적|군))")
_PLAIN = re.compile(
    rf"(?<![\w가-힣.-])((?:[가-힣A-Z][가-힣A-Za-z0-9]*[ -])?[가-힣A-Z][가-힣A-Za-z0-9]*)( ?)({_PLAIN_HEADS})(?=(?:에게서|에서|에게|으로|로|와|과|의|에|이|가|은|는|을|를|도|만|나|이나|랑)?(?:[^\w가-힣]|$))"
)
_STOP = frozenset(
    "이 그 저 각 해당 다른 외부 내부 모든 여러 개별 이런 본 새 새로운 신규 기존 하나의 마이크로 웹 주요 공통 전체 타 대상 상대 클라우드 매칭서비스 백엔드 프론트엔드 관련 특정 호출 동일한 같은 두 세 네 "
    "단일 서비스 시스템 다른도메인 분산 고객 사용자 실시간 운영 대행 자체 독립적인 별도의 별도 이러한 연동 복잡한 전용 하위 상위 핵심 원격 다양한 기반 통합 해당하는 rest api 특정한 정상 온라인 "
    "consumer producer 도메인 composite 비즈니스 매칭 서포팅 이상 피호출 컨슈머 프로듀서 백엔드 결과 응답 현재 어느 어떤 일부 오래된 스프링 스트리밍".split()
)
# What makes no name with a plain head: kinds of servers and APIs, technologies, places.
_PLAIN_STOP = (_STOP - {"매칭", "운영"}) | frozenset(
    "시 후 전 때 등 중 내 외 간 별 추후 향후 최근 현재 당시 나중 오늘 이번 feign openfeign rest resttemplate webclient axios retrofit 관리 조회 생성 수정 삭제 등록 요청 응답 오픈 open http https grpc graphql soap json public private internal external 개발 테스트 스테이징 로컬 프로덕션 물리 가상 리눅스 원본 메인 공개 인증된 제공 "
    "공용 로컬 in-memory nosql sql rdb 관계형 인메모리 스프링 spring node java python go 안드로이드 ios 네이티브 하이브리드 카카오톡 docker 도커 kubernetes 쿠버네티스 빌드 배포 캐시 백업 소스 코드 깃 git "
    "이미지 파일 로그 객체 이 그 자사 타사 서드파티 상용 무료 임시 최종 실제 모의 목 mock fake stub 브라우저 http/2 db api 서버 앱 기타 위 아래 다음 그다음 이후 먼저 우선 이때 또한 모두 각각 실제로 첫 두번째 클라우드".split()
)
# Components that teams call by their kind alone; only beside a particle of a subject or goal.
_ALONE = re.compile(
    rf"(?<![\w가-힣.-])(?<!의 )({'|'.join(sorted(KO_ALONE))})(?=(?:은|는|이|가|에서|에게|으로|로)(?:[^\w가-힣]|$))"
)
# A Latin compound that acts: coupon-batch가, coupon-admin은.
_KEBAB = re.compile(
    r"(?<![\w./:@{$`-])(?!docker-|kube-|spring-)([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"
    r"(?:(?:이|가|은|는|에서는?)(?=\s)|(?:이라는|라는)\s| ?(?:→|->))"
)
# A company beside what it is: PG사인 KCP에, 배송 업체인 한진을.
_COMPANY = re.compile(
    r"(?:[가-힣A-Z]사|업체|벤더|제공자|대행사|통신사|카드사)인 ([A-Z][A-Za-z0-9]+|[가-힣]{2,6}?)(?=(?:에게|에서|으로|로|와|과|의|에|이|가|은|는|을|를)(?:[^\w가-힣]|$))"
)
COMPOUND_ENDS = tuple(
    "-based -facing -side -level -to -in -up -party -end -ready -aware -driven -specific -wide -grade -native -oriented -friendly -like -free -only -code -source -performance -time -built -hosted "
    "-managed -cluster -memory -tier -tenant -region -quality -purpose -value -backed -once -compose -commit".split()
)
_GLOSS = re.compile(
    r"([가-힣]+(?: ?(?:서비스|시스템|서버|화면|앱))?) ?\(([A-Za-z][A-Za-z0-9-]*(?:[ -][A-Za-z0-9-]+)?)\)|\b([A-Za-z][A-Za-z0-9-]+) ?\(([가-힣]+(?: ?(?:서비스|시스템))?)\)"
)

Introduced = tuple[int, int, str, str, str, tuple[str, ...]]


def korean_names(flat: Flat) -> Iterator[Introduced]:
    """(start, end, name, kind, how, aliases) of names in a flat text."""
    text = flat.text
    for match in _NAME.finditer(text) if _HEAD.search(text) else ():
        if korean_name(match) and (
            not match[2] or match[1][-1].isascii() or _noun_before(text, match.start(1), match.end(1), match.end(3))
        ):
            start = match.start(1) + len(re.match(r"[0-9-]*", match[1])[0])  # type: ignore[index]  # matches the empty text too
            yield start, match.end(3), text[start : match.end(3)], NodeKind.SERVICE.value, "prose", ()
    for match in _PLAIN.finditer(text) if _PLAIN_HEAD.search(text) else ():
        begin = _plain_start(text, match)
        # "포인트 서버의 적립 API" is the server's.
        if begin is not None and not (match[3] == "API" and text[:begin].endswith("의 ")):
            yield (
                begin,
                match.end(3),
                text[begin : match.end(3)],
                _KINDS.get(match[3], NodeKind.SERVICE).value,
                "prose",
                # "BFF 서버" is "BFF" from then on.
                (core,) if re.fullmatch(r"[A-Z]{3,}", core := text[begin : match.end(1)]) and match[3] != "API" else (),
            )
    for match in _ALONE.finditer(text):
        yield match.start(), match.end(), match[1], NodeKind.SERVICE.value, "prose", ()
    for match in _KEBAB.finditer(text) if "-" in text else ():
        if not match[1].endswith(COMPOUND_ENDS):
            kind = _KINDS.get(match[1].rsplit("-", 1)[1].upper(), NodeKind.SERVICE)
            yield match.start(1), match.end(1), match[1], kind.value, "prose", ()
    for match in _COMPANY.finditer(text) if "인 " in text else ():
        yield match.start(1), match.end(1), match[1], NodeKind.EXTERNAL.value, "prose", ()
    yield from glosses(flat)


def _plain_start(text: str, match: re.Match[str]) -> int | None:
    """Where the name begins: with the nouns right before its head, at most two; None where there is none."""
    start = match.start(1)
    first, _, last = match[1].rpartition(" ")
    if (
        last.casefold() in _PLAIN_STOP
        or (len(last) < 2 and not last.isupper())
        or (match[2] == "" and last[-1:].isascii() and match[3].isascii())
    ):
        return None
    if not _noun_before(text, match.end(1) - len(last), match.end(1), match.end(3)):
        return None
    outer = first.casefold()
    if not outer:
        return start
    if outer in _PLAIN_STOP or not _noun_before(text, start, start + len(first), match.end(1), whole=True):
        return match.end(1) - len(last)
    return start


def korean_name(match: re.Match[str]) -> bool:
    """Whether what stands before 서비스 can be part of a name."""
    word = re.sub(r"^[0-9-]+", "", match[1])
    if match[3] == "게이트웨이" and word == "API":
        return True
    if (
        not word
        or word.casefold() in _STOP
        or (
            word.endswith(("의", "는", "은", "를", "을", "한", "된", "할", "에서", "으로", "와", "과", "및"))
            and match[2]
        )
    ):
        return False
    return len(word) >= 2


def full_name(text: str) -> re.Match[str] | None:
    """The match where all of a text is one name with 서비스 or its like."""
    return _NAME.fullmatch(text)


def plain_name(text: str) -> str:
    """The kind where all of a text is one name with a plain head (로그인 서버); "" where it is none."""
    match = _PLAIN.fullmatch(text)
    return _KINDS.get(match[3], NodeKind.SERVICE).value if match is not None and _plain_start(text, match) == 0 else ""


def _noun_before(text: str, start: int, end: int, until: int, *, whole: bool = False) -> bool:
    """결제 서비스 is a name, 때문에 서비스 is none: what stands before the space must be a noun (`whole`: nothing but nouns)."""
    from designed.extractors.korean import tag

    begin = max(text.rfind(" ", 0, start), 0)
    before = [m for m in tag(text[begin:until]) if begin + m.start < end]
    nouns = ("NNG", "NNP", "SL", "SN", "XSN")
    return bool(before) and (all(m.tag in nouns for m in before) if whole else before[-1].tag in nouns)


def glosses(flat: Flat) -> Iterator[Introduced]:
    """‘결제(pay)’ and "pay(결제)"."""
    text = flat.text
    for match in _GLOSS.finditer(text) if "(" in text else ():
        korean, latin = (match[1], match[2]) if match[1] else (match[4], match[3])
        if (
            technology(latin) is not None
            or not re.fullmatch(r"[a-z][a-z0-9]+(?:-[a-z0-9]+)*|[A-Z][a-z]+(?:[ -]?[A-Z][a-z]+)*", latin)
            or len(latin) < 3
        ):
            continue
        # Only a gloss on something that is called a service makes a name; any other may still join one that is known.
        firm = (
            korean.endswith(("서비스", "시스템", "서버", "화면", "앱"))
            or re.compile(r" ?(?:마이크로 ?서비스|서비스|시스템|서버)").match(text, match.end()) is not None
        )
        yield *match.span(), latin, "", "gloss" if firm else "gloss?", (korean, f"{korean}({latin})")
