"""Words by which statements are compared with evidence: of reporting, of negation, opposites, strengthening, and one wording for what says the same. Pure."""
# ruff: noqa: E501  # word tables read better whole

from __future__ import annotations

import re

from answer.language import stem

# Words of reporting that need no source of their own.
_REPORTING = """
    service services system component call calls called calling use uses used using depend depends dependency
    dependencies make makes made happen happens occur document documents documented documentation say says said
    state states stated according observed seen trace traces telemetry evidence show shows shown report reports
    describe describes described first last error errors rate latency p50 p90 p95 p99 ms percent message messages
    count total number value amount operation operations behind trigger triggers triggered cause causes caused
    reason because since until day days active path direct directly user users caller callers callee need needs
    needed require requires also order take takes taken place work works set sets setting configured limit limits
    limited allow allows allowed get gets put give gives given handle handles handled perform performs done go goes
    run runs within up per time times currently overall about approximately around roughly name named between
    through via drift confirmed status verdict publish publishes subscribe subscribes topic database queue send
    sends sent receive receives write writes read reads client server success deliver delivers further visible see
    new gone changed change went volume fails hit missing delayed slowest longest fastest shortest took come comes
    half most least without while when still already even whether unless cannot during keep keeps consume consumes
    consuming written
"""
_REPORTING_KO = """
    것 것은 있 있고 있지 아직 않 않았 않았다 않는다 않습니다 서비스 시스템 호출 사용 의존 문서 문서화 관측 경로 오류 오류율 지연 메시지 작업 원인 최초 마지막 활동
    영향 근거 직접 간접 장애 값 경우 가능 필요 처리 수행 발생 확인 기준 다음 해당 통해 이유 대상 쪽 들어오 나가 발행 구독
    전달 동기 비동기 부재 회 건 이내 이후 이전 정도 동안 이상 이하 대하 열람 변하 변함 새로 관측되 관측됨 문서화되 없
"""
GENERIC = frozenset(stem(word) for word in _REPORTING.split()) | frozenset(_REPORTING_KO.split())
NEGATION = re.compile(
    r"\b(?:not|never|no|none|unless|except|excluding|nobody|nothing|neither|nor|without|cannot|can't|doesn't|don't|didn't|isn't|aren't|wasn't|won't|shouldn't|mustn't|fails? to|un(?:documented|observed|seen|used|limited|available|supported|encrypted|restricted))\b"
    r"|않|없|아니|못\s?(?:하|한|했|함)|안\s(?:한|하|된|되|됩)|불가|금지|미(?:사용|지원|관측)",
    re.IGNORECASE,
)
# Pairs of patterns, of which a statement may not take one side where its evidence takes the other.
_PAIRS = r"""
    \bincreas|\bdecreas
    \brais\w+|\blower\w*|\breduc
    \bbefore\b|\bafter\b
    \babove\b|\bbelow\b
    \bat most\b|\bat least\b
    \bmaximum\b|\bminimum\b
    \bmore than\b|\b(?:less|fewer) than\b
    \bup to\b|\bat least\b
    \bmaximum\b|\bat least\b
    \bat most\b|\bminimum\b
    (?<!a)synchronous|\basynchronous
    \benabl|\bdisabl
    \b(?:allow|permit)|\b(?:forbid|forbidden|den(?:y|ied|ies)|reject|prohibit)
    \balways\b|\bnever\b
    \brequired\b|\boptional
    \bmandatory\b|\boptional
    \bmanual|\bautomat
    \bby hand\b|\bautomat
    \bsucce|\bfail
    \bfirst\b|\blast\b
    \bearl(?:y|ier|iest)\b|\blat(?:e|er|est)\b
    \bprimary\b|\b(?:secondary|replica|standby)\b
    \b(?:start|begin)|\b(?:stop|end)s?\b
    \bopen(?!api|telemetry)|\bclos
    \binternal\b|\bexternal\b
    \bencrypt|\bplain ?text
    \bhourly\b|\bdaily\b
    \bdaily\b|\bweekly\b
    \bweekly\b|\bmonthly\b
    \bhourly\b|\bweekly\b
    \bdaily\b|\bmonthly\b
    \bpublish|\bsubscrib
    \bproduc(?!t)|\bconsum
    \bread[- ]only\b|\bwrit
    \bfast|\bslow
    \bpublic\b|\bprivate\b
    \bonline\b|\boffline\b
    \bcaller|\bcallee
    \badd(?:s|ed|ing)?\b|\bremov
    \bcreat|\bdelet
    \bkeep|\bdelet
    \bpush|\bpull
    \bupstream|\bdownstream
    \bold(?:er|est)?\b|\bnew(?:er|est)?\b
    \bhigh(?:er|est)?\b|\blow(?:er|est)?\b
    \blong(?:er|est)?\b|\bshort(?:er|est)?\b
    \bbest[- ]effort\b|\bguaranteed\b
    \bat least once\b|\bat most once\b
    \bexactly once\b|\bat (?:least|most) once\b
    \bsum\b|\baverage\b
    \bsequential|\bparallel
    \bstateless|\bstateful
    \bprod(?:uction)?\b|\b(?:staging|development)\b
    \bmust\b|\b(?:may|can|should)\b(?! not)
    \bincluded\b|\bexcluded\b
    \bgrant|\brevok
    \bsame\b|\b(?:second|another|other|different|separate|next|previous)\b
    \baccept|\b(?:refus|reject|declin)
    \bnext\b|\bprevious\b
    \bold\b|\bnew\b
    \bsingle\b|\bmultiple\b
    \bday\b|\bnight\b
    \bmorning\b|\bevening\b
    \bfree\b|\b(?:charged|paid|fee)\b
    무료|유료
    전까지|후부터
    오전|오후
    증가|감소
    늘|줄
    이전|이후
    이상|이하
    초과|미만
    초과|이하
    이상|미만
    받는 사람|보내는 사람
    수신자|발신자
    \bread(?:s|ing)?\b|\bwrit(?:e|es|ing)\b
    최대|최소
    최대|이상
    (?<!비)동기|비동기
    허용|금지
    항상|절대
    필수|선택
    수동|자동
    성공|실패
    먼저|나중
    시작|종료
    내부|외부
    발행|구독
    생산|소비
    추가|삭제
    생성|삭제
    매일|매주
    매주|매월
    매시간|매일
    켜|끄
    빠르|느리
    공개|비공개
    유지|삭제
    포함|제외
    요청|응답
    있다|없다
"""


def _sides(pair: str) -> tuple[str, str]:
    """Both sides of a pair: what stands before and behind the first bar outside parentheses."""
    depth = 0
    for place, letter in enumerate(pair):
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            return pair[:place], pair[place + 1 :]
    raise AssertionError(pair)


OPPOSITES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(a, re.IGNORECASE), re.compile(b, re.IGNORECASE))
    for a, b in (_sides(line.strip()) for line in _PAIRS.strip().splitlines())
)
# Strengthening that the evidence must hold itself.
STRONG = (
    (
        re.compile(r"\b(?:only|solely|exclusively)\b|오직|만(?=\s|[.,])", re.IGNORECASE),
        re.compile(r"\b(?:only|solely|exclusively|sole|single)\b|오직|만", re.IGNORECASE),
    ),
    (
        re.compile(r"\b(?:always|every time|guarante\w+|all)\b|항상|모든|모두|반드시|보장", re.IGNORECASE),
        re.compile(
            r"\b(?:always|every|each|all|guarante\w+|must|any)\b|항상|모든|모두|반드시|보장|전체|매번", re.IGNORECASE
        ),
    ),
)
# Words of a kind, of which one does not stand for another.
CONTRASTS = tuple(
    frozenset(line.split())
    for line in """
    monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december
    postgresql postgres mysql mongodb redis cassandra dynamodb sqlite oracle valkey memcached elasticsearch
    kafka rabbitmq nats sqs pulsar kinesis
    http grpc graphql websocket amqp mqtt soap
    java python go golang kotlin typescript javascript rust php ruby scala
    aws azure gcp
    red green blue yellow
    get post put delete patch
    seconds minutes hours days weeks months
""".strip().splitlines()
)
_AT_MOST = re.compile(
    r"\b(?:no|not|cannot|can't|never|nor)\b(?:\s+\w+){0,3}?\s+more than\b|\bno (?:later|longer) than\b|\bup to\b|\bmaximum(?: of)?\b|\blimited to\b",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(r"\b(?:no|not)\b(?:\s+\w+){0,2}?\s+(?:less|fewer) than\b|\bminimum(?: of)?\b", re.IGNORECASE)
_ERROR_FREE = re.compile(
    r"\b(?:without|no) (?:any )?(?:errors?|failures?)\b|(?:오류|에러|실패)(?:가|는)? ?없이?", re.IGNORECASE
)


_LESS = re.compile(r"\b(?:less|fewer|lower|smaller) than\b|\bunder\b|\bbelow\b", re.IGNORECASE)
_MORE = re.compile(
    r"\b(?:more|greater|higher|larger) than\b|\bover(?=\s+[\d$€])|\babove\b|\bexceed(?:s|ing)?\b", re.IGNORECASE
)


# Words that say the same of what systems and people do.
_SAME = tuple(
    (re.compile(words, re.IGNORECASE), one)
    for words, one in (
        (r"(?:발송|전송)(?:된다|한다|된|한|하|되)?|보낸다|보낸|보냈|보내(?=[야고며지기])", "보내다 "),
        (r"(?<=[이가을를] )(?:낸다|내야|냅니다)|지불|납부", "부담"),
        (r"(?<=[을를] )(?:쓴다|쓰며|쓰고|씁니다)", "사용"),
        (r"\b(?:stay|stays|remain|remains)\b", "kept"),
        (r"\bbefore\s+(?:they|it)\s+(?:is|are)\b", "then"),
    )
)


def canonical(text: str) -> str:
    """One wording for bounds, so that "no more than" is no negation, and "below 3" is "less than 3"; and for some words of one meaning."""
    bounded = _AT_LEAST.sub("at least", _AT_MOST.sub("at most", _ERROR_FREE.sub(" ", text)))
    for words, one in _SAME:
        bounded = words.sub(one, bounded)
    return _MORE.sub("more than", _LESS.sub("less than", bounded))
