"""Cue words and grammar of questions, over text in which names stand as `⟦n⟧`. English and Korean. Pure."""

# ruff: noqa: E501  # a cue is one line of a table
from __future__ import annotations

import re
from re import Pattern

from nexus.ports.answers import QuestionKind

K = QuestionKind
_I = re.IGNORECASE
S = r"⟦\d+⟧"
VERB_EN = (
    r"(?:call(?:s|ing|ed)?|asks?|us(?:e|es|ed|ing)|depend(?:s|ed|ing)?\s+(?:up)?on|(?:talk|speak|connect|write|listen|subscribe|publish|send|rel(?:y|ie)|react|refer)(?:s|es|ing|ed|d)?\s+(?:\w+\s+)?(?:to|on|into)"
    r"|invok(?:e|es|ed|ing)|request(?:s|ed|ing)?|quer(?:y|ies|ied|ying)|hit(?:s|ting)?|reach(?:es|ed|ing)?|contact(?:s|ed|ing)?|access(?:es|ed|ing)?|need(?:s|ed)?|requir(?:e|es|ed)"
    r"|(?:read|fetch|consum|receiv|pull|poll)(?:e|s|es|ed|ing)?(?:\s+\w+)?(?:\s+from)?|publish(?:es|ed|ing)?|produc(?:e|es|ed|ing)|emit(?:s|ted|ting)?|subscrib(?:e|es|ed|ing)|send(?:s|ing)?|trigger(?:s|ed)?|notif(?:y|ies|ied)|stor(?:e|es|ed|ing)(?:\s+\w+)?\s+in|interact(?:s|ing)?\s+with|touch(?:es)?)"
)
_VERB_KO = r"(?:호출|사용|의존|조회|요청|연동|통신|이용|접근|접속|발행|구독|수신|전송|참조|부르|부른|불러|쓰는|쓰나|쓰지|쓰고|씁니|쓴다|써(?:요)?(?![가-힣])|보내|보낸|읽|저장|필요로|찌르|소비)"
VERBS: dict[str, Pattern[str]] = {
    "en": re.compile(rf"\b{VERB_EN}\b", _I),
    "ko": re.compile(rf"{_VERB_KO}|\b{VERB_EN}\b", _I),
}
VERB_NEXT = re.compile(rf"\s+{VERB_EN}\b", _I)
TROUBLE = {
    "en": re.compile(
        r"\b(?:slow|fail(?:s|ing|ed)?|error(?:s|ing)?|down|broken|unhealthy|latency|time(?:s|d)? ?out|spik)", _I
    ),
    "ko": re.compile(r"느리|느린|실패|오류|에러|죽|다운|고장|지연|장애"),
}
# The answer is in a text, however much it sounds like a measurement.
ABOUT_TEXT = re.compile(
    r"\b(?:should|must|target|slo|sla|objective|budget|policy|allowed|according to|runbook|(?:how|who) (?:do|can|should) (?:i|we|you)|configured|default|limit|maximum|timeout)\b|\bhow many times\b.*\bretr"
    r"|재시도.*몇|몇.*재시도|목표|기준|정책|허용|제한|한도|기본값|설정|해야|절차|방법|런북|따르면|타임아웃",
    _I,
)
WORSE = re.compile(r"\b(?:broke|broken|worse|regress\w*|fail(?:ed|ing|s)?|degrad\w*)\b|고장|망가|나빠|실패|문제", _I)
_WH_EN = r"\b(?:who|what|which|whom|list|show|name|find|give|anyone|anything|something|tell)\b"

# (kind, cue, how many entities it needs at least), the first that fits.
ENGLISH: tuple[tuple[QuestionKind, Pattern[str], int], ...] = (
    (
        K.PATH,
        re.compile(
            rf"\b(?:paths?|routes?|chain|hops?)\b.*\b(?:from|between|to)\b|\b(?:paths?|routes?|chain|trace)\b.*{S}.*{S}|{S}.*{S}\s+(?:paths?|routes?|chain)\b|\bflows?\b.*\b(?:from|to)\b.*{S}.*{S}|\b(?:what|which)\b[^⟦]*\bbetween\b.*{S}.*{S}|\b(?:through|via|over)\s+(?:which|what)\b.*{S}.*{S}|\b(?:way|get|go|goes|come)\b.*\b(?:from|to)\b.*{S}.*{S}|\bhow\b.*{S}.*\b(?:reach|get (?:from|to)|end up|flow|connected|related|linked)\b|\b(?:way|get) from\b",
            _I,
        ),
        1,
    ),
    (
        K.IMPACT,
        re.compile(
            rf"\b(?:break|fail|affect|impact|happen|suffer|stop|lose|hurt)\w*\b.*\b(?:if|when|once|should|by|of)\b.*{S}|blast radius|\b(?:without|losing|loss of)\s+(?:the\s+)?{S}|{S}.*\bwould\s+(?:break|fail|stop|suffer)|\b(?:if|when|should)\s+(?:the\s+)?{S}.*\b(?:fail|go(?:es)? (?:down|away|dark|offline)|(?:is|was|were|gets?) (?:down|unavailable|gone|lost|slow|offline)|die|dies|crash|stop|break|outage)"
            rf"|\b(?:impact\w*|effects?|consequences?)\b.*\b(?:outage|failure|loss)\b|\bdepend\w* on\b.*\bfail|\bwho (?:is|would be) (?:affected|hit)|\b(?:decommission|retire|remove|delete|shut ?down|take down|turn off|switch off|get rid of|drop)\b.*{S}",
            _I,
        ),
        1,
    ),
    (
        K.WHY,
        re.compile(
            rf"\b(?:why|how come|reasons?|what (?:makes|causes|made|caused|triggers|leads)|for what|explain why|purpose)\b.*{S}|{S}.*{S}.*\bwhy\b|\bwhat\b.*{S}.*{S}\s+for\b|\bwhat(?:'s|’s| is)\s+(?:the\s+)?{S}\s+doing with\b|\bevidence\b.*{S}.*{S}|\b(?:dependenc(?:y|e)|relation(?:ship)?|connection|link)\b.*\b(?:between|of)\b.*{S}.*{S}",
            _I,
        ),
        1,
    ),
    (
        K.DOCUMENTED,
        re.compile(
            r"\b(?:un)?documented\b|\b(?:docs?|documents?|documentation|design)\b.*\b(?:say|mention|cover|state|describe|know|contain|match)|\bdo (?:we|you) document\b|\b(?:in|by|part of) (?:the|our|any) (?:docs?|documentation|documents?|design)\b|\bshadow dependenc|\bdrift\b",
            _I,
        ),
        0,
    ),
    (
        K.CHANGED,
        re.compile(
            r"\brecent(?:ly)?\s+(?:\w+\s+)?(?:chang|new)\w*|\b(?:dis)?appear\w*\b|\bvanish\w*\b|\bwhat(?:'s|’s| is| has| have| are| was)?\s+(?:\w+\s+)?(?:new|chang\w+|different|broke\w*|gone|regress\w*|worse)\b|\b(?:changes?|changed|broke\w*|new|differences?|regress\w*)\b.*\b(?:since|after|between|last|past|today|yesterday|recently|lately|this week)\b"
            r"|\banything (?:new|changed|different)|\bdid\b.*\b(?:change|anything break)\b|\bdid anything (?:break|fail)\b",
            _I,
        ),
        0,
    ),
    (K.CALLERS, re.compile(rf"^(?!.*\bhow\b).*\b(?:inbound|incoming)\b.*{S}", _I), 1),
    (K.CALLEES, re.compile(rf"\bupstream dependenc(?:y|ies)\b.*{S}", _I), 1),
    (
        K.HEALTH,
        re.compile(
            rf"\b(?:error rates?|errors?|latenc(?:y|ies)|p(?:50|9\d)|throughput|health(?:y)?|slow|fast|failing|fails|success rate|response times?|status|traffic|load|perform\w*|doing|behav\w*|reliable|(?:any|some)thing wrong)\b|\bhow (?:often|many|much|frequently|well|quick\w*|long)\b|\bhow (?:is|are) (?:the\s+)?{S}",
            _I,
        ),
        1,
    ),
    (
        K.CALLERS,
        re.compile(
            rf"\b(?:callers?|clients?|consumers?|dependents?|users?|upstreams?|subscribers?|publishers?|producers?)\b.*\b(?:of|for|to)\b.*{S}|{S}(?:'s|’s)?\s+(?:callers?|clients?|consumers?|dependents?|upstreams?|subscribers?|publishers?|producers?)\b"
            rf"|\bwhere(?:'s|’s| is| are)?\s+(?:the\s+)?{S}\s+(?:being\s+)?(?:used|called|needed|consumed)|\bby whom\b.*{S}|\b(?:is|are|does|do|has)\s+(?:any(?:one|thing|body)|some(?:one|thing|body))\b.*{VERB_EN}.*{S}",
            _I,
        ),
        1,
    ),
    (
        K.CALLEES,
        re.compile(
            rf"\b(?:dependenc(?:y|ies)|callees?|downstreams?|targets?)\b.*\b(?:of|for)\b.*{S}|{S}(?:'s|’s)?\s+(?:\w+\s+)?(?:dependenc(?:y|ies)|callees?|downstreams?)|\b(?:outbound|outgoing)\b.*{S}|\bwhat(?:ever)?\s+(?:the\s+)?{S}\s+{VERB_EN}\b",
            _I,
        ),
        1,
    ),
)
KOREAN: tuple[tuple[QuestionKind, Pattern[str], int], ...] = (
    (K.HEALTH, re.compile(rf"{S}.*{S}.*(?:지연 ?시간|응답 ?시간|레이턴시|에러율|오류율|실패율|성공률|처리량)", _I), 2),
    (
        K.PATH,
        re.compile(
            rf"경로|어떻게\s*(?:연결|이어|도달|가나|흘러|닿)|거쳐|{S}.*{S}\s*사이|{S}\s*(?:에서|부터).*{S}\s*(?:까지|로|으로)\s*(?:가는|이어|연결|어떻게|도달)|\bpath\b",
            _I,
        ),
        1,
    ),
    (
        K.IMPACT,
        re.compile(
            r"(?:장애|죽|다운|멈추|멈춘|중단|실패|내려가|내리|고장|끊기|끄|망가|못 쓰|안 되|없어지|사라지|터지|없애|제거|내려|꺼).*(?:면|도\s*(?:괜찮|되|돼)|시(?![가-힣])|때|경우|영향|무엇|무슨|어떤|뭐|어디|누가)|영향\s*(?:범위|을|도|받)|파급",
            _I,
        ),
        1,
    ),
    (K.WHY, re.compile(rf"왜|이유|까닭|어째서|때문|무슨 목적|목적이|\bwhy\b|{S}.*{S}.*(?:관계|근거)", _I), 1),
    (
        K.DOCUMENTED,
        re.compile(
            r"문서화|문서(?:에|에는|에도|상)?\s*(?:는\s*)?(?:있|나와|나오|적혀|적힌|기록|없|언급|쓰여|명시|반영)|문서로|설계(?:에|서에)\s*(?:있|나와|없)|드리프트|\bdocumented\b",
            _I,
        ),
        0,
    ),
    (
        K.CHANGED,
        re.compile(
            r"(?:최근|어제|오늘|지난|이번)\S*\s.*(?:변화|변경|고장|망가)|(?:무엇|무슨|뭐|뭔|어떤|어디|달라진|바뀐|변경된|새로).*(?:바뀌|바뀐|변경|변했|변한|변화|달라|새로|생긴|생겼|사라|고장|망가|깨|문제)|(?:변경|변경된|변화|바뀐|달라진|새로 생긴|사라진)\s*(?:사항|점|것|게|거|내용|호출|의존|엣지|내역)",
            _I,
        ),
        0,
    ),
    (
        K.HEALTH,
        re.compile(
            r"오류율|에러율|오류|에러|지연|응답\s*시간|레이턴시|상태|어때|어떤가|어떻습|느리|느린|느려|빠른|괜찮|정상|건강|얼마나|몇\s*(?:번|건|회|개)|성공률|실패율|처리량|트래픽|잘\s*(?:돌|되|동작|작동)|p(?:50|9\d)",
            _I,
        ),
        1,
    ),
    (
        K.CALLERS,
        re.compile(
            rf"{S}\s*(?:서비스)?(?:의)?\s*(?:호출자|사용처|소비자|구독자|발행자|클라이언트|상위|업스트림)|들어오는|인바운드|어디(?:에?서)?\s*(?:쓰이|사용되|호출되|불리)|\bupstream",
            _I,
        ),
        1,
    ),
    (
        K.CALLEES,
        re.compile(
            rf"{S}\s*(?:서비스)?(?:의)?\s*(?:의존(?!하)|하위|대상|다운스트림)|나가는|아웃바운드|\bdownstream", _I
        ),
        1,
    ),
)
ASKS_RELATION: dict[str, Pattern[str]] = {
    "en": re.compile(
        rf"{_WH_EN}.*\b{VERB_EN}\b|\b{VERB_EN}\s+by\b|{S}.*\b{VERB_EN}\b.*\b(?:what|whom|anything|which)\b|^\s*(?:services?|everything|all)\b.*\b{VERB_EN}\b",
        _I,
    ),
    "ko": re.compile(
        rf"(?:누가|누구|무엇|뭘|뭐|어떤|어느|어디|무슨|모든|목록|서비스|것|곳|쪽|데).*{_VERB_KO}|{_VERB_KO}.*(?:누구|무엇|뭐|어디|서비스|토픽|DB|디비|데이터베이스|것|거|곳|쪽|데|목록)",
        _I,
    ),
}
# "what port does checkout listen on" asks for a property that texts have, "which database does it use" for a node of the graph.
_ASKED_EN = re.compile(r"\b(?:what|which)\s+(?:\w+\s+)??(\w+)\s+(?:does|do|did|is|are|was|were|has|have|can)\b", _I)
_ASKED_KO = re.compile(r"(?:어떤|무슨|어느)\s*([가-힣A-Za-z]+)")
_NODES_EN = re.compile(
    r"(?:(?:micro)?services?|svcs?|systems?|components?|apps?|applications?|databases?|dbs?|stores?|storages?|caches?|topics?|queues?|streams?|channels?|brokers?|apis?|endpoints?|events?|messages?|operations?"
    r"|backends?|servers?|upstreams?|downstreams?|dependenc(?:y|ies)|call(?:er|ee|s)s?|clients?|consumers?|producers?|publishers?|subscribers?|thing|things|one|ones|else|and|or|of)",
    _I,
)
_NODES_KO = re.compile(
    r"(?:마이크로)?(?:서비스|시스템|컴포넌트|구성\s*요소|앱|애플리케이션|데이터베이스|디비|저장소|스토어|캐시|토픽|큐|스트림|채널|브로커|이벤트|메시지|엔드포인트|서버|백엔드|의존|업스트림|다운스트림|호출|작업|것|거|곳|쪽|데|애|놈)"
    r"|(?:services?|db|database|api|topic|queue|cache)",
    _I,
)
_PUBLISH = re.compile(r"\b(?:publish\w*|produc\w*|emit\w*|sends?)\b|발행|게시|보내|전송", _I)
_SUBSCRIBE = re.compile(r"\b(?:subscrib\w*|consum\w*|listen\w*|receiv\w*)\b|구독|수신|소비", _I)
_PASSIVE_EN = re.compile(
    r"\b(?:called|used|invoked|queried|requested|accessed|consumed|read|reached|hit|published|produced|triggered|contacted|needed|required|subscribed)(?:\s+to)?\s+by\b|\b(?:is|are|was|were|be|been|being|gets?|got)\s+(?:\w+\s+)?\w+(?:ed|en|sent|read|hit)\b[^.?!]*?\bby\s+(?:the\s+)?⟦",
    _I,
)
_RELATIVE_EN = re.compile(rf"⟦(\d+)⟧,?\s+(?:which|that|whom)\s+(?:the\s+)?⟦(\d+)⟧\s+(?:\w+\s+)?{VERB_EN}\b", _I)
# "Which endpoints of A does B call": B calls A.
_OWNED_EN = re.compile(
    r"\b(?:of|on|from|in)\s+(?:the\s+)?⟦(\d+)⟧\s+(?:does|do|did|is|are|was|has)\s+(?:the\s+)?⟦(\d+)⟧", _I
)
_PASSIVE_KO = re.compile(r"(?:호출|사용|조회|요청|이용|참조|발행|구독|소비)(?:되|돼|됩|된|받)|불리|의해|쓰이")
_SUBJECT = r"(?:이|가|은|는|께서|에서|도|만)"


def asks_for_a_property(masked: str) -> bool:
    """Whether the noun that is asked for is no node of the graph: a port, a language, a version."""
    nouns = [(m[1], _NODES_EN.fullmatch) for m in _ASKED_EN.finditer(masked)] + [
        (m[1], _NODES_KO.match) for m in _ASKED_KO.finditer(masked)
    ]
    return bool(nouns) and not any(is_node(noun) for noun, is_node in nouns)


def narrowed(masked: str) -> str:
    """`publish`, `subscribe` or "" (any)."""
    if _PUBLISH.search(masked):
        return "publish"
    return "subscribe" if _SUBSCRIBE.search(masked) else ""


_FROM = re.compile(r"\bfrom\s+(?:the\s+)?⟦(\d+)⟧|⟦(\d+)⟧\s*(?:에서|부터|로부터)", _I)
_TO = re.compile(r"\b(?:to|reach|into)\s+(?:the\s+)?⟦(\d+)⟧|⟦(\d+)⟧\s*(?:까지|으로|로(?!부터)|에\s*(?:도달|닿))", _I)


def directed(masked: str) -> bool:
    """Whether a text says from where, or to where."""
    return bool(_FROM.search(masked) or _TO.search(masked))


def path_ends(masked: str, order: list[int]) -> list[int]:
    """(from, to): by "from" and "to", 에서/부터 and 까지/로; else the order of appearance."""
    start, end = _FROM.search(masked), _TO.search(masked)
    first = int(start[1] or start[2]) if start else None
    last = int(end[1] or end[2]) if end else None
    if first is None:
        first = next((n for n in order if n != last), order[0])
    if last is None or last == first:
        last = next((n for n in order if n != first), first)
    return [first, last]


def source_and_target(masked: str, order: list[int], language: str) -> list[int]:
    """Who depends, on what."""
    first, second = order[0], order[1]
    if language == "ko":
        if re.search(r"⟦\d+⟧\s*(?:와|과|랑|이랑|하고)\s*⟦\d+⟧", masked):
            # "A와 B의 호출": no direction but the order.
            return [first, second]
        objects = [
            int(n) for n in re.findall(r"⟦(\d+)⟧\s*(?:을|를|에게|한테|에(?!서|\s*의해)|로|으로|와|과|랑)", masked)
        ]
        subjects = [int(n) for n in re.findall(rf"⟦(\d+)⟧\s*{_SUBJECT}", masked)]
        if _PASSIVE_KO.search(masked):
            agents = [int(n) for n in re.findall(r"⟦(\d+)⟧\s*(?:에\s*의해|에게|에서|로부터|한테)", masked)]
            if agents:
                return [agents[0], next((n for n in order if n != agents[0]), agents[0])]
        target = next((n for n in objects if n in order and n not in subjects[:1]), None)
        if target is not None:
            source = next((n for n in subjects if n != target), next((n for n in order if n != target), target))
            return [source, target]
        return [first, second]
    owned = _OWNED_EN.search(masked)
    if owned and {int(owned[1]), int(owned[2])} <= set(order):
        return [int(owned[2]), int(owned[1])]
    relative = _RELATIVE_EN.search(masked)
    if relative and {int(relative[1]), int(relative[2])} <= set(order):
        return [int(relative[2]), int(relative[1])]
    if _PASSIVE_EN.search(masked):
        agent = re.search(r"\bby\s+(?:the\s+)?⟦(\d+)⟧", masked, _I)
        if agent:
            return [int(agent[1]), next((n for n in order if n != int(agent[1])), first)]
    return [first, second]


def side_of(masked: str, slot: int, language: str) -> str:
    """Whether the one named entity is the `source` (what does X call) or the `target` (who calls X); "" = not said."""
    if language == "ko" and re.search("[가-힣]", masked):
        return _side_ko(masked, slot)
    here = re.escape(f"⟦{slot}⟧")
    if _PASSIVE_EN.search(masked):
        return "source" if re.search(rf"\bby\s+(?:the\s+)?{here}", masked, _I) else "target"
    verb = next(
        (m for m in re.finditer(rf"\b{VERB_EN}\b", masked, _I) if not re.match(r"(?:users?|clients?)\b", m[0], _I)),
        None,
    )
    if verb is None:
        return ""
    return "source" if masked.index(f"⟦{slot}⟧") < verb.start() else "target"


def _side_ko(masked: str, slot: int) -> str:
    behind = masked[masked.index(f"⟦{slot}⟧") + len(f"⟦{slot}⟧") :].lstrip()
    passive = bool(_PASSIVE_KO.search(masked))
    if re.match(r"(?:을|를|에게|한테|와|과|랑|로|으로)|에(?!서)", behind):
        if passive and re.match(r"에\s*의해|에게|한테", behind):
            return "source"
        return "target"
    if re.match(r"에서", behind):
        return "source"
    if re.match(r"(?:이|가|은|는|도)", behind):
        someone = re.search(r"누가|누구(?:가|에게|한테)|(?:서비스|곳|쪽|것|데)(?:들)?(?:이|가|에서)", behind)
        return "target" if passive or (someone and re.match(r"(?:은|는)", behind)) else "source"
    return ""


_NAMEISH = r"[A-Za-z][\w./-]*[A-Za-z0-9]"
_NOT_NAMES = frozenset(
    "slo sla slos slas we us i you me my your he she his her their work function run operate succeed start the a an by of to it they them this that these those anyone anybody someone somebody nothing db dbs service services system systems anything something everything who what which all our any is are was were does do did be been "
    "component components team app application other others each database topic queue most errors error calls requests traffic users user call use used direct directly and or not "
    "documented undocumented down up fails fail breaks break documentation docs document documents architecture design traces telemetry".split()
)


def unknown_names(masked: str, language: str) -> tuple[str, ...]:
    """Names in places where an entity belongs that the registry does not hold."""
    found: list[str] = []
    if language == "en":
        patterns = [
            rf"\b{VERB_EN}\s+(?:the\s+)?({_NAMEISH})(?=\s*(?:service|database|topic|db)?\s*[?.!]?\s*$)",
            rf"\b(?:does|do|did|is|are|was|has|may|can|could|should)\s+(?:the\s+)?({_NAMEISH})\s+(?:service\s+)?(?:{VERB_EN}\b|doing|documented|healthy|failing|reach|allowed|permitted|down|alive|dead|running|offline|keep|meet|within)",
            rf"\b(?:if|when)\s+(?:the\s+)?({_NAMEISH})\s+(?:service\s+)?(?:fails|goes|is|dies|crash|break|stop)",
            rf"\b(?:of|from|between|to|reach)\s+(?:the\s+)?({_NAMEISH})(?=\s+(?:to|and)\b|\s*[?.!]?\s*$)",
        ]
    else:
        patterns = [
            rf"({_NAMEISH}|[가-힣]{{1,12}}\s?서비스)\s*(?:이|가|은|는|을|를|에서|부터|까지|에|로|와|과|의)(?=\s|$)",
            # The whole of what is asked about, as in `제피르는 누가 호출해?`.
            rf"^\W*([가-힣]{{2,12}}?)(?:은|는|을|를)\s+(?:누가|어디서)\s+{_VERB_KO}",
        ]
    for pattern in patterns:
        found += [m[1] for m in re.finditer(pattern, masked, _I)]
    # 발행하는 서비스, 하위 서비스: what a service does or where it stands is no name.
    generic = re.compile(
        r"^(?:어떤|어느|무슨|모든|다른|이|그|저|각|상위|하위|해당|관련|(?:몇\s?)?개의|[가-힣]*(?:는|은|던|한|된|할|될|인))?\s?서비스$"
    )
    names = [
        n
        for n in found
        if n.casefold() not in _NOT_NAMES
        and not generic.match(n)
        and not re.match(r"어떤|어느|무슨|모든|다른", n)
        and not re.fullmatch(VERB_EN, n, _I)
    ]
    return tuple(dict.fromkeys(names))


def unknown_side(masked: str, language: str) -> str:
    """`source` where the question is what the (unknown) name calls."""
    if language == "ko":
        return (
            "source"
            if re.search(rf"(?:{_NAMEISH}|서비스)\s*(?:이|가|은|는)\s.*(?:무엇|뭘|뭐|어떤|어디)", masked)
            else "target"
        )
    return "source" if re.search(r"\bwhat\s+(?:does|do|did)\b|\bwhich\b.*\bdoes\b", masked, _I) else "target"
