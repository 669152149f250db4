"""Whether a statement is carried by the evidence that it cites: names, roles, polarity, opposites, added words. Pure.

Numbers have a module of their own (`answer.numbers`). Every check returns a reason, "" where nothing speaks against the statement.
"""
# ruff: noqa: E501  # word tables read better whole

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from answer.cues import VERBS, source_and_target
from answer.evidence import INSTRUCTION, Evidence
from answer.language import HANGUL, grams, language_of, sentences, stem, terms
from answer.quantities import LABEL
from nexus.model.names import squash
from nexus.model.registry import Registry

# Words of reporting that need no source of their own.
GENERIC = frozenset(
    stem(w) for w in (
        "service services system component call calls called calling use uses used using depend depends dependency dependencies make makes made happen happens occur document documents documented documentation say says said state states "
        "stated according observed seen trace traces telemetry evidence show shows shown report reports describe describes described first last error errors rate latency p50 p90 p95 p99 ms percent message messages count total number value amount operation "
        "operations behind trigger triggers triggered cause causes caused reason because since until day days active path direct directly user users caller callers callee need needs needed require requires also order take takes taken place work works set sets setting configured "
        "limit limits limited allow allows allowed get gets put give gives given handle handles handled perform performs done go goes run runs within up per time times currently overall about approximately around roughly name named between through via drift confirmed status verdict publish publishes subscribe subscribes topic database queue send sends sent receive receives write writes read reads client server success handled deliver delivers further visible see new gone changed change went volume fails hit missing delayed behind slowest longest fastest shortest took made come comes half most times without while when still already even whether unless cannot during keep keeps consume consumes consuming made read written"
    ).split()
) | frozenset("것 것은 있 있고 서비스 시스템 호출 사용 의존 문서 문서화 관측 경로 오류 오류율 지연 메시지 작업 원인 최초 마지막 활동 영향 근거 직접 간접 장애 값 경우 가능 필요 처리 수행 발생 확인 기준 다음 해당 통해 이유 대상 쪽 들어오 나가 발행 구독 전달 동기 비동기 부재 회 건 이내 이후 이전 정도 동안 이상 이하 대하 서비스 열람 변하 변함 새로 이후 관측되 관측됨 문서화되 장애 있 없".split())
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|unless|except|excluding|nobody|nothing|neither|nor|without|cannot|can't|doesn't|don't|didn't|isn't|aren't|wasn't|won't|shouldn't|mustn't|fails? to|un(?:documented|observed|seen|used|limited|available|supported|encrypted|restricted))\b"
    r"|않|없|아니|못\s?(?:하|한|했|함)|안\s(?:한|하|된|되|됩)|불가|금지|미(?:사용|지원|관측)", re.IGNORECASE,
)
# Pairs of which a statement may not take one where its evidence takes the other.
def _sides(pair: str) -> tuple[str, str]:
    """Both sides of a pair: what stands before and behind the first bar outside parentheses."""
    depth = 0
    for place, letter in enumerate(pair):
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            return pair[:place], pair[place + 1 :]
    raise AssertionError(pair)


_OPPOSITES: tuple[tuple[str, str], ...] = tuple(
    _sides(pair) for pair in (
        r"\bincreas|\bdecreas", r"\brais\w+|\blower\w*|\breduc", r"\bbefore\b|\bafter\b", r"\babove\b|\bbelow\b", r"\bat most\b|\bat least\b", r"\bmaximum\b|\bminimum\b", r"\bmore than\b|\b(?:less|fewer) than\b", r"\bup to\b|\bat least\b", r"\bmaximum\b|\bat least\b", r"\bat most\b|\bminimum\b",
        r"(?<!a)synchronous|\basynchronous", r"\benabl|\bdisabl", r"\b(?:allow|permit)|\b(?:forbid|forbidden|den(?:y|ied|ies)|reject|prohibit)", r"\balways\b|\bnever\b", r"\brequired\b|\boptional", r"\bmandatory\b|\boptional", r"\bmanual|\bautomat", r"\bby hand\b|\bautomat",
        r"\bsucce|\bfail", r"\bfirst\b|\blast\b", r"\bearl(?:y|ier|iest)\b|\blat(?:e|er|est)\b", r"\bprimary\b|\b(?:secondary|replica|standby)\b", r"\b(?:start|begin)|\b(?:stop|end)s?\b", r"\bopen(?!api|telemetry)|\bclos", r"\binternal\b|\bexternal\b", r"\bencrypt|\bplain ?text", r"\bhourly\b|\bdaily\b", r"\bdaily\b|\bweekly\b", r"\bweekly\b|\bmonthly\b", r"\bhourly\b|\bweekly\b", r"\bdaily\b|\bmonthly\b",
        r"\bpublish|\bsubscrib", r"\bproduc(?!t)|\bconsum", r"\bread[- ]only\b|\bwrit", r"\bfast|\bslow", r"\bpublic\b|\bprivate\b", r"\bonline\b|\boffline\b", r"\bcaller|\bcallee", r"\badd(?:s|ed|ing)?\b|\bremov", r"\bcreat|\bdelet", r"\bkeep|\bdelet", r"\bpush|\bpull", r"\bupstream|\bdownstream", r"\bold(?:er|est)?\b|\bnew(?:er|est)?\b", r"\bhigh(?:er|est)?\b|\blow(?:er|est)?\b", r"\blong(?:er|est)?\b|\bshort(?:er|est)?\b",
        r"\bbest[- ]effort\b|\bguaranteed\b", r"\bat least once\b|\bat most once\b", r"\bexactly once\b|\bat (?:least|most) once\b", r"\bsum\b|\baverage\b", r"\bsequential|\bparallel", r"\bstateless|\bstateful", r"\bprod(?:uction)?\b|\b(?:staging|development)\b", r"\bmust\b|\b(?:may|can|should)\b(?! not)", r"\bincluded\b|\bexcluded\b", r"\bgrant|\brevok", r"\bsame\b|\b(?:second|another|other|different|separate|next|previous)\b", r"\baccept|\b(?:refus|reject|declin)", r"\bnext\b|\bprevious\b", r"\bold\b|\bnew\b", r"\bsingle\b|\bmultiple\b", r"\bday\b|\bnight\b", r"\bmorning\b|\bevening\b", r"\bfree\b|\b(?:charged|paid|fee)\b", r"무료|유료", r"전까지|후부터", r"오전|오후",
        r"증가|감소", r"늘|줄", r"이전|이후", r"이상|이하", r"초과|미만", r"초과|이하", r"이상|미만", r"받는 사람|보내는 사람", r"수신자|발신자", r"\bread(?:s|ing)?\b|\bwrit(?:e|es|ing)\b", r"최대|최소", r"최대|이상", r"(?<!비)동기|비동기", r"허용|금지", r"항상|절대", r"필수|선택", r"수동|자동", r"성공|실패", r"먼저|나중", r"시작|종료", r"내부|외부", r"발행|구독", r"생산|소비", r"추가|삭제", r"생성|삭제", r"매일|매주", r"매주|매월", r"매시간|매일", r"켜|끄", r"빠르|느리", r"공개|비공개", r"유지|삭제", r"포함|제외", r"요청|응답", r"있다|없다",
    )
)
# Strengthening that the evidence must hold itself.
_STRONG = (
    (re.compile(r"\b(?:only|solely|exclusively)\b|오직|만(?=\s|[.,])", re.IGNORECASE), re.compile(r"\b(?:only|solely|exclusively|sole|single)\b|오직|만", re.IGNORECASE)),
    (re.compile(r"\b(?:always|every time|guarante\w+|all)\b|항상|모든|모두|반드시|보장", re.IGNORECASE), re.compile(r"\b(?:always|every|each|all|guarante\w+|must|any)\b|항상|모든|모두|반드시|보장|전체|매번", re.IGNORECASE)),
)
_CONTRAST = ("monday tuesday wednesday thursday friday saturday sunday", "january february march april june july august september october november december",
             "postgresql postgres mysql mongodb redis cassandra dynamodb sqlite oracle valkey memcached elasticsearch", "kafka rabbitmq nats sqs pulsar kinesis",
             "http grpc graphql websocket amqp mqtt soap", "java python go golang kotlin typescript javascript rust php ruby scala", "aws azure gcp",
             "red green blue yellow", "get post put delete patch", "seconds minutes hours days weeks months")
_GROUPS = tuple(frozenset(line.split()) for line in _CONTRAST)


_OPERATION = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+/[^\s,;)\]가-힣]*")
_AT_MOST = re.compile(r"\b(?:no|not|cannot|can't|never|nor)\b(?:\s+\w+){0,3}?\s+more than\b|\bno (?:later|longer) than\b|\bup to\b|\bmaximum(?: of)?\b|\blimited to\b", re.IGNORECASE)
_AT_LEAST = re.compile(r"\b(?:no|not)\b(?:\s+\w+){0,2}?\s+(?:less|fewer) than\b|\bminimum(?: of)?\b", re.IGNORECASE)
_ERROR_FREE = re.compile(r"\b(?:without|no) (?:any )?(?:errors?|failures?)\b|(?:오류|에러|실패)(?:가|는)? ?없이?", re.IGNORECASE)


_LESS = re.compile(r"\b(?:less|fewer|lower|smaller) than\b|\bunder\b|\bbelow\b", re.IGNORECASE)
_MORE = re.compile(r"\b(?:more|greater|higher|larger) than\b|\bover(?=\s+[\d$€])|\babove\b|\bexceed(?:s|ing)?\b", re.IGNORECASE)


# Words that say the same of what systems and people do.
_SAME = tuple((re.compile(words, re.IGNORECASE), one) for words, one in (
    (r"(?:발송|전송)(?:된다|한다|된|한|하|되)?|보낸다|보낸|보냈|보내(?=[야고며지기])", "보내다 "), (r"(?<=[이가을를] )(?:낸다|내야|냅니다)|지불|납부", "부담"), (r"(?<=[을를] )(?:쓴다|쓰며|쓰고|씁니다)", "사용"),
    (r"\b(?:stay|stays|remain|remains)\b", "kept"), (r"\bbefore\s+(?:they|it)\s+(?:is|are)\b", "then"),
))


def _canonical(text: str) -> str:
    """One wording for bounds, so that "no more than" is no negation, and "below 3" is "less than 3"; and for some words of one meaning."""
    bounded = _AT_LEAST.sub("at least", _AT_MOST.sub("at most", _ERROR_FREE.sub(" ", text)))
    for words, one in _SAME:
        bounded = words.sub(one, bounded)
    return _MORE.sub("more than", _LESS.sub("less than", bounded))


def blank_operations(text: str) -> str:
    """Operations (`POST /checkout`) without their letters: their paths are no names of services."""
    return _OPERATION.sub(lambda m: " " * len(m.group(0)), text)


def names_reason(statement: str, evidence: Sequence[Evidence], registry: Registry) -> str:
    """Every name of the statement occurs in what it cites, under any of its spellings."""
    from answer.evidence import aliases

    cited = frozenset().union(*(e.names for e in evidence))
    text = squash(" ".join(e.text for e in evidence))
    covered: list[tuple[int, int]] = []
    for match in _OPERATION.finditer(statement):
        covered.append((match.start(), match.end()))
        if squash(match.group(0)) not in text:
            return f"the evidence cited does not hold {match.group(0)}"
    for item in registry.find(blank_operations(statement)):
        spelled = registry.surface(item)
        covered.append((item.start, item.end))
        if item.weak and not item.marked and not any(e.kind == "edge" for e in evidence):
            # A common word in prose; it is compared as a word.
            continue
        if not any(name in cited or (len(name) > 3 and name in text) for name in aliases(registry, spelled) | {squash(statement[item.start : item.core_end])}):
            return f"the evidence cited does not name {statement[item.start : item.core_end]}"
    for match in re.finditer(r"`([^`\n]{2,80})`|https?://\S+|(?<![A-Za-z0-9_])(?:[A-Za-z][A-Za-z0-9]*(?:[-_./:][A-Za-z0-9]+)+|[a-z]+[A-Z][A-Za-z0-9_]+|[A-Z][a-z]+[A-Z][A-Za-z0-9_]+|[A-Z]{2,})(?![A-Za-z0-9_])", statement):
        word = match.group(1) or match.group(0)
        if any(a <= match.start() < b for a, b in covered) or re.fullmatch(r"UTC|TTL|p\d+|and/or|I/O", word):
            continue
        if squash(word) not in text:
            return f"the evidence cited does not hold {word}"
    return ""


def roles_reason(statement: str, evidence: Sequence[Evidence], registry: Registry) -> str:
    """Who does it to whom: the statement's source and target against those of the edges or sentences cited."""
    claim = _relation(blank_operations(statement), registry, verb=True)
    if claim is None:
        return ""
    source, target, verb = claim
    flat = [pair for e in evidence for pair in _ends(e, registry)]
    if (target, source) in flat and (source, target) not in flat:
        return "the evidence says it the other way round"
    present = {key for e in evidence for key in _keys(e, registry)}
    absent = next((key for key in (source, target) if key not in present), None)
    if absent is not None:
        return f"the evidence cited does not name {_shown(absent, registry)}"
    edges = [e for e in evidence if e.kind == "edge"]
    waits = re.search(r"(?<!a)\bsynchronous|(?<!비)동기(?!식 ?메시지)", statement, re.IGNORECASE)
    later = re.search(r"\basynchronous|비동기", statement, re.IGNORECASE)
    if edges and ((later and all(e.relation == "CALLS" for e in edges)) or (waits and all(e.relation != "CALLS" for e in edges))):
        return "the evidence says otherwise about waiting for the answer"
    if edges and (source, target) in flat and len(flat) == 1 and verb and not _verb_fits(verb, edges[0].relation):
        return f"the evidence is of another relation ({edges[0].relation})"
    return ""


def swapped_reason(statement: str, evidence: Sequence[Evidence], registry: Registry) -> str:
    """A statement in the very words of a sentence, with its two names changed over."""
    claim = _relation(blank_operations(statement), registry, verb=False)
    if claim is None:
        return ""
    asked = frozenset(terms(statement))
    for item in evidence:
        for one in item.windows:
            if one.pair or item.kind == "edge" or len(asked & _bag(one.text)) < 0.8 * len(asked):
                continue
            there = _relation(one.text, registry, verb=False)
            if there is not None and there[:2] == (claim[1], claim[0]):
                return "the evidence says it the other way round"
    return ""


def _keys(evidence: Evidence, registry: Registry) -> set[str]:
    """Keys of everything that an item names."""
    found = {_key(evidence.source, registry), _key(evidence.target, registry)} if evidence.kind == "edge" else set()
    for item in registry.find(evidence.text):
        resolution = registry.resolve(registry.surface(item))
        found.add(resolution.entity.rid if resolution.entity else squash(registry.surface(item)))
    return found


def _shown(key: str, registry: Registry) -> str:
    return next((e.name for e in registry.entities if e.rid == key), key)


def _relation(statement: str, registry: Registry, *, verb: bool) -> tuple[str, str, str] | None:
    """(source, target, verb) of a statement with one relation between two names, with `verb` only where one of relation is there; None for anything else."""
    slots: dict[str, str] = {}
    out, at = [], 0
    for item in registry.find(statement):
        entity = registry.resolve(registry.surface(item)).entity
        key = entity.rid if entity else squash(registry.surface(item))
        number = slots.setdefault(key, str(len(slots)))
        out += [statement[at : item.start], f"⟦{number}⟧"]
        at = item.end
    masked = "".join(out) + statement[at:]
    language = language_of(masked)
    masked = re.sub(r"\s*[(:—].*$", "", masked)
    order = list(dict.fromkeys(int(n) for n in re.findall(r"⟦(\d+)⟧", masked)))
    found = VERBS[language].search(masked)
    if len(order) != 2 or (found is None and verb):
        return None
    a, b = source_and_target(masked, order, language)
    keys = {number: key for key, number in slots.items()}
    return keys[str(a)], keys[str(b)], found.group(0) if found else ""


def _ends(evidence: Evidence, registry: Registry) -> list[tuple[str, str]]:
    if evidence.kind == "edge":
        return [(_key(evidence.source, registry), _key(evidence.target, registry))]
    found = []
    for one in evidence.windows:
        relation = _relation(one.text, registry, verb=False)
        if relation is not None:
            found.append(relation[:2])
    return found


def _key(names: frozenset[str], registry: Registry) -> str:
    for name in sorted(names, key=len, reverse=True):
        entity = registry.resolve(name).entity
        if entity is not None:
            return entity.rid
    return max(names, key=len) if names else ""


def _verb_fits(verb: str, relation: str) -> bool:
    word = verb.casefold()
    says_publish = bool(re.match(r"publish|produc|emit|send|발행|전송", word))
    says_subscribe = bool(re.match(r"subscrib|consum|listen|receiv|구독|수신|소비", word))
    if says_publish:
        return relation in {"PUBLISHES", "DELIVERS"}
    return relation in {"SUBSCRIBES", "DELIVERS"} if says_subscribe else not (re.match(r"call|invok|호출", word) and relation != "CALLS")


# How a statement says that a document speaks of something that is not (yet, any more, to be) there, and the modality it then must have.
_MODALITIES = tuple((re.compile(words, re.IGNORECASE), meant) for words, meant in (
    (r"forbid|금지", "forbidden"), (r"\bplan|계획", "planned"), (r"deprecat|폐기", "deprecated"), (r"\bpast\b|과거", "historical"), (r"must not|하지 않", "forbidden"),
))


def layer_reason(statement: str, evidence: Sequence[Evidence]) -> str:
    """What it says of being documented and being observed, against the edges cited."""
    edges = [e for e in evidence if e.kind == "edge"]
    if not edges:
        return ""
    statement = _canonical(statement)
    negated = bool(_NEGATION.search(statement))
    about_documents = re.search(r"\bun?documented\b|\bdocument|\bdocs\b|문서", statement, re.IGNORECASE)
    about_telemetry = re.search(r"\b(?:un)?observed\b|\bseen\b|\btelemetry\b|관측", statement, re.IGNORECASE)
    clauses = re.split(r"[,;]|\bbut\b|\band\b|지만|고(?=\s)|으나", statement)
    for clause in clauses:
        no = bool(_NEGATION.search(clause))
        if any(said.search(clause) and any(meant in e.text for e in edges) for said, meant in _MODALITIES):
            continue
        if re.search(r"\bdocument|\bdocs\b|\bundocumented\b|문서", clause, re.IGNORECASE) and about_documents:
            said = all(e.documented for e in edges)
            if no == said and (no or not any(e.documented for e in edges)):
                return "the evidence says otherwise about documents"
        elif re.search(r"\b(?:un)?observed\b|\bseen\b|관측", clause, re.IGNORECASE):
            was = any(e.observed for e in edges)
            stopped = any("not seen since" in e.text for e in edges)
            if no == was and not (no and stopped):
                return "the evidence says otherwise about what was observed"
    if negated and not about_documents and not about_telemetry and not any(_NEGATION.search(e.text) for e in edges) and VERBS[language_of(statement)].search(statement):
        return "the evidence shows the dependency that the sentence denies"
    return ""


def words_reason(statement: str, evidence: Sequence[Evidence], registry: Registry) -> str:
    """Polarity, opposites, strengthening, substituted and added words, against the best windows of the evidence."""
    plain = re.sub(r"[“”\"']", "", statement)
    if INSTRUCTION.search(plain):
        return "it repeats an instruction, not a fact"
    named = frozenset(t for item in registry.find(plain) for t in terms(plain[item.start : item.end]))
    best = _best(plain, evidence, named)
    text = "\n".join([best, *(e.quote for e in evidence)])
    crossed = bool(HANGUL.search(plain)) != bool(HANGUL.search(best))
    if not crossed:
        # What is said of being documented or observed has its own check.
        layered = any(e.kind == "edge" for e in evidence) and re.search(r"document|observed|\bseen\b|문서|관측", plain, re.IGNORECASE)
        # An observed edge asserts; what a document says of it is in its quotes.
        spoken = "" if layered else _best(plain, [e for e in evidence if e.kind == "passage" or e.quote], named)
        said, there = _canonical(plain), _canonical(spoken)
        reason = ((_polarity(said, there) or _opposites(said, there)) if spoken else "") or _contrast(plain, "\n".join(e.text for e in evidence))
        if reason:
            return reason
    for strong, needed in _STRONG:
        if strong.search(plain) and not needed.search(text) and not crossed:
            return f"the evidence does not say “{strong.search(plain).group(0)}”"  # type: ignore[union-attr]  # it matched in the condition
    return _added(_canonical(plain), evidence, _canonical(best), named, crossed=crossed)


def _best(statement: str, evidence: Sequence[Evidence], named: frozenset[str]) -> str:
    """Of each item the one sentence nearest to the statement, by the terms that they share; names, and terms that every sentence holds, count little."""
    asked, pairs = frozenset(terms(statement)), grams(statement)
    chosen = []
    for item in evidence:
        single = [w.text for w in item.windows if not w.pair]
        common = {t: sum(t in _bag(text) for text in single) for t in asked}
        scored = [
            (sum((0.3 if t in named else 1.0) / common[t] for t in asked & _bag(text)) + 0.1 * len(pairs & grams(text)) - 0.02 * len(_bag(text)), text) for text in single
        ]
        if scored:
            chosen.append(max(scored)[1])
    return "\n".join(chosen)


@lru_cache(maxsize=4096)
def _bag(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _polarity(statement: str, best: str) -> str:
    a, b = bool(_NEGATION.search(statement)), bool(_NEGATION.search(best))
    if a == b:
        return ""
    # A window of two sentences may hold a negation that belongs to the other one.
    asked = frozenset(terms(statement))
    parts = sentences(best)
    nearest = max(parts, key=lambda p: len(asked & _bag(p)), default=best)
    return "" if a == bool(_NEGATION.search(nearest)) else "the evidence says the opposite"


CLAUSE = re.compile(r"[,;]|\s(?:but|and|or|whereas|while|though)\s|(?<=고)\s|(?<=며)\s|(?<=지만)\s|\n")


def _opposites(statement: str, best: str) -> str:
    """Where the evidence holds both sides, its clause nearest to the statement decides."""
    asked = frozenset(terms(statement))
    parts = [part for part in CLAUSE.split(best) if part.strip()]
    nearest = max(parts, key=lambda part: len(asked & _bag(part)), default=best)
    if len(asked & _bag(nearest)) < 2:
        nearest = best
    for a, b in _COMPILED:
        for mine, other in ((a, b), (b, a)):
            if not mine.search(statement) or other.search(statement):
                continue
            if other.search(best) and not mine.search(best if not mine.search(best) else nearest) and other.search(best if not mine.search(best) else nearest):
                return f"the evidence says “{other.search(best).group(0)}”"  # type: ignore[union-attr]  # it matched in the condition
    return ""


_COMPILED = tuple((re.compile(a, re.IGNORECASE), re.compile(b, re.IGNORECASE)) for a, b in _OPPOSITES)


def _contrast(statement: str, text: str) -> str:
    said, there = frozenset(re.findall(r"[a-z]+", statement.casefold())), frozenset(re.findall(r"[a-z0-9]+", text.casefold()))
    for group in _GROUPS:
        new = (said & group) - there
        if new and there & group:
            return f"the evidence does not say {min(new)}"
    return ""


def _covered(term: str, bag: frozenset[str], pairs: frozenset[str]) -> bool:
    if term in bag or term in GENERIC or squash(term) in bag:
        return True
    if HANGUL.search(term):
        own = grams(term)
        return len(term) == 1 or (bool(own) and len(own & pairs) * 2 >= len(own))
    return len(term) >= 5 and any(len(other) >= 5 and (other.startswith(term[:5])) for other in bag)


_PLACING = frozenset(("after", "befor", "dure", "until", "onc", "while", "end"))


def _added(statement: str, evidence: Sequence[Evidence], best: str, named: frozenset[str], *, crossed: bool) -> str:
    """New content words: too many, or one in the place of another, mean that the statement is another one."""
    whole = _canonical("\n".join(e.text for e in evidence))
    bag, pairs = _bag(whole) | frozenset(t for e in evidence for t in e.names), grams(whole)
    asked = [t for t in terms(re.sub(r"\d[\d.,]*", " ", LABEL.sub(" ", statement))) if not t.isdigit()]
    if crossed:
        asked = [t for t in asked if not HANGUL.search(t)] if HANGUL.search(statement) else []
        return "" if all(_covered(t, bag, pairs) for t in asked if len(t) > 2) else "the evidence does not hold its words"
    if not asked:
        return ""
    new = [t for t in asked if not _covered(t, bag, pairs)]
    content = [t for t in asked if t not in GENERIC and t not in named and t not in _PLACING]
    if new and len(new) >= 0.25 * max(len(content), 1):
        return f"the evidence does not hold: {', '.join(dict.fromkeys(new[:4]))}"
    return _substituted(asked, new, terms(best), asked_bag=frozenset(asked))


# Words of edges' descriptions between which anything may stand.
_EMPTY = frozenset(stem(w) for w in "calls errors observed documented asserted environment cause triggers of on messages lines latency client server drift confirmed".split())


def _substituted(asked: list[str], new: list[str], there: list[str], *, asked_bag: frozenset[str]) -> str:
    """"finance team" where the evidence has "payments team": a new word beside the same neighbour as a word that the statement left out."""
    for term in dict.fromkeys(new):
        at = asked.index(term)
        for step in (-1, 1):
            neighbour = asked[at + step] if 0 <= at + step < len(asked) else None
            if neighbour is None or neighbour in new or neighbour not in there:
                continue
            for place in (i for i, t in enumerate(there) if t == neighbour):
                other = there[place - step] if 0 <= place - step < len(there) else None
                if other and other not in asked_bag and len(other) > 1 and not other[0].isdigit() and other not in _EMPTY:
                    return f"the evidence says {other}, not {term}"
    return ""
