"""Numbers of a text by value, unit and sign. Pure.

`12 ms`, `0.5 %`, `-3`, `1,234 calls`, `3천 건`, `twice`, `p99 200ms`: each gives a `Quantity` in a base unit, so that 0.2 s and 200 ms are one value.
Not numbers: markers (`[1]`), parts of names (`http2`, `order-1`), versions, list numbers, quantile labels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Unit words -> (class, factor to the class's base). Bases: ms, byte, %, and 1 for counts.
_UNITS: dict[str, tuple[str, float]] = {}


def _unit(kind: str, factor: float, *names: str) -> None:
    _UNITS.update(dict.fromkeys(names, (kind, factor)))


_unit("duration", 0.001, "us", "µs", "μs", "microsecond", "microseconds", "마이크로초")
_unit("duration", 1, "ms", "msec", "millisecond", "milliseconds", "밀리초")
_unit("duration", 1_000, "s", "sec", "secs", "second", "seconds", "초")
_unit("duration", 60_000, "m", "min", "mins", "minute", "minutes", "분")
_unit("duration", 3_600_000, "h", "hr", "hrs", "hour", "hours", "시간")
_unit("duration", 86_400_000, "d", "day", "days", "일", "일간")
_unit("duration", 604_800_000, "week", "weeks", "주", "주일")
_unit("bytes", 1, "b", "byte", "bytes", "바이트")
_unit("bytes", 1_000, "kb")
_unit("bytes", 1_000_000, "mb")
_unit("bytes", 1_000_000_000, "gb")
_unit("bytes", 1_024, "kib")
_unit("bytes", 1_048_576, "mib")
_unit("bytes", 1_073_741_824, "gib")
_unit("weight", 0.001, "mg")
_unit("weight", 1, "g", "gram", "grams", "그램")
_unit("weight", 1_000, "kg", "kilogram", "kilograms", "킬로그램")
_unit("weight", 1_000_000, "t", "ton", "tons", "톤")
_unit("length", 1, "mm")
_unit("length", 10, "cm")
_unit("length", 1_000_000, "km")
_unit("clock", 1, "시")
_unit("percent", 1, "%", "percent", "per cent", "퍼센트", "프로")
_unit("calls", 1, "call", "calls", "호출")
_unit("times", 1, "time", "times", "회", "번", "차례")
_unit("errors", 1, "error", "errors", "오류", "에러", "failure", "failures", "실패")
_unit("messages", 1, "message", "messages", "메시지")
_unit("retries", 1, "retry", "retries", "재시도", "attempt", "attempts")
_unit("requests", 1, "request", "requests", "요청", "rps")
_unit("services", 1, "service", "services", "서비스")
_unit("instances", 1, "instance", "instances", "인스턴스", "replica", "replicas", "pod", "pods")
_unit("characters", 1, "character", "characters", "chars", "글자", "문자", "자")
_unit("items", 1, "item", "items", "개", "항목", "entries", "entry", "rows", "row", "records")
_unit("people", 1, "users", "user", "people", "명")
_unit("krw", 1, "원", "won", "krw")
_unit("usd", 1, "usd", "dollars", "dollar", "$", "달러")
_unit("eur", 1, "eur", "euro", "euros", "€")
# 건 counts whatever is spoken of.
_unit("", 1, "건", "x")
# Classes that say what is counted rather than measured; the word may stand on either side of the number.
COUNTED = frozenset(
    {
        "calls",
        "times",
        "errors",
        "messages",
        "retries",
        "requests",
        "services",
        "instances",
        "characters",
        "items",
        "people",
    }
)
_KOREAN_SCALE = {"천": 1e3, "만": 1e4, "백만": 1e6, "천만": 1e7, "억": 1e8}
_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
    "hundred": 100,
    "thousand": 1000,
    "once": 1,
    "twice": 2,
    "한": 1,
    "두": 2,
    "세": 3,
    "네": 4,
    "다섯": 5,
    "여섯": 6,
    "일곱": 7,
    "여덟": 8,
    "아홉": 9,
    "열": 10,
}
_NAMES = "|".join(sorted((re.escape(name) for name in _UNITS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"""(?<![\w.#/@:])(?<![A-Za-z가-힣]-)(?P<money>[$€₩])?(?P<sign>[-+−±](?=\d))?
    (?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[-+]?\d+)?)
    (?P<scale>천만|백만|천|만|억|[kM](?![A-Za-z]))?
    (?:\s?-?(?P<unit>{_NAMES})(?![A-Za-z0-9]))?(?![A-Za-z0-9_]|\.\d|:\d|-[A-Za-z])""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_ERRORS = re.compile(
    r"\b(?:without|no|zero) (?:any )?(?:errors?|failures?)\b|(?:오류|에러|실패)(?:가|는)? ?없(?:이|음|다|고|었)",
    re.IGNORECASE,
)
# "between two attempts" counts nothing.
_WORD_NUMBER = re.compile(
    rf"(?<!between )(?<!the )(?<!these )(?<![\w가-힣-])(?:(?P<alone>once|twice)|(?P<word>{'|'.join(w for w in _WORDS if w not in {'once', 'twice'})})[\s-]?(?P<unit>{_NAMES}))(?![A-Za-z])",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?<!\d)(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?Z|\s?UTC|[+-]\d{2}:?\d{2})?)?(?!\d)|(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)"
)
_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+\.\d+[\w.+-]*", re.IGNORECASE)
_MARKER = re.compile(r"\[[^\[\]\n]{1,40}\]")
_LIST = re.compile(r"^\s*\d{1,3}[.)]\s", re.MULTILINE)
_CODE_STATUS = re.compile(r"\b(?:HTTP|status|code|port)s?\s?(?:/\d\S*\s)?\d{2,5}\b", re.IGNORECASE)
_RATE_UNITS = {
    "second": "second",
    "sec": "second",
    "s": "second",
    "초": "second",
    "minute": "minute",
    "min": "minute",
    "분": "minute",
    "hour": "hour",
    "h": "hour",
    "시간": "hour",
    "day": "day",
    "일": "day",
    "하루": "day",
    "week": "week",
    "주": "week",
    "month": "month",
    "달": "month",
    "request": "request",
    "요청": "request",
    "order": "order",
    "user": "user",
}
_RATE = re.compile(
    r"\s?(?:/\s?|per |an? |every |each )(second|sec|s|minute|min|hour|h|day|week|month|request|order|user)\b",
    re.IGNORECASE,
)
_RATE_BEFORE = re.compile(r"(초|분|시간|일|하루|주|달|요청)(?:당|마다|에)\s?(?:최대\s?)?$")
LABEL = re.compile(
    r"(?<![A-Za-z])p(50|75|90|95|99(?:\.9)?)(?![0-9A-Za-z])|\b(median|average|mean|maximum|minimum|max|min|slowest|longest|fastest|shortest)\b|(중앙값|평균|최대|최소|가장 느린|가장 빠른)"
    r"|(\d\d) ?(?:th|번째) ?(?:percentile|백분위)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number. `value` in the base of its class `unit` ("" = bare); `shown` and `shown_unit` as written; [start, end) in the text."""

    value: float
    unit: str
    shown: float
    shown_unit: str
    start: int
    end: int
    # Half a unit of the last digit written: how far rounding can be off.
    slack: float = 0.0
    # "per second", "/분": second, minute, hour, day or request; "" = no rate.
    rate: str = ""


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda m: " " * len(m.group(0)), text)


def dates(text: str) -> list[str]:
    """Dates, times and versions as written, normalised for comparing (no zone, no seconds' fraction)."""
    found = [
        re.sub(r"[T ]", " ", m.group(0)).replace("/", "-").rstrip("Z UTC")
        for m in _DATE.finditer(_blank(_MARKER, text))
    ]
    return [f.replace(".", "-") if re.match(r"\d{4}\.", f) else f for f in found] + [
        m.group(0).lstrip("vV") for m in _VERSION.finditer(_blank(_MARKER, text))
    ]


def quantities(text: str) -> list[Quantity]:
    """Every number of the text, in order."""
    clean = text
    for pattern in (_MARKER, _LIST, _DATE, _VERSION, LABEL):
        clean = _blank(pattern, clean)
    found = [_read(match, clean) for match in _NUMBER.finditer(clean)]
    taken = {q.start for q in found}
    for match in _WORD_NUMBER.finditer(clean):
        if match.start() in taken:
            continue
        word = (match.group("alone") or match.group("word")).casefold()
        unit, factor = ("times", 1.0) if match.group("alone") else _UNITS[match.group("unit").casefold()]
        found.append(
            Quantity(
                _WORDS[word] * factor, unit, _WORDS[word], match.group("unit") or "times", match.start(), match.end()
            )
        )
    found += [Quantity(0, "errors", 0, "errors", m.start(), m.end()) for m in _NO_ERRORS.finditer(clean)]
    return sorted(found, key=lambda q: q.start)


def _read(match: re.Match[str], text: str) -> Quantity:
    digits = match.group("digits").replace(",", "")
    number = float(digits) * (-1 if match.group("sign") in {"-", "−"} else 1)
    decimals = len(digits.partition(".")[2].partition("e")[0])
    slack = 0.5 * 10**-decimals
    scale_word = match.group("scale") or ""
    scale = _KOREAN_SCALE.get(scale_word) or {"k": 1e3, "m": 1e6}.get(scale_word.casefold(), 1.0)
    money = {"$": "usd", "€": "eur", "₩": "krw"}.get(match.group("money") or "", "")
    shown_unit = match.group("unit") or ""
    name = shown_unit if shown_unit in _UNITS else shown_unit.casefold()
    unit, factor = (money, 1.0) if money else _UNITS.get(name, ("", 1.0))
    if not unit and not money:
        unit, near = _counted_nearby(text, match.start(), match.end())
        shown_unit = near or shown_unit
    if unit in {"times", ""} and _FAILED.match(text, match.end()):
        unit = "errors"
    whole = decimals == 0 and "e" not in digits
    exact = 0.0 if whole and factor == scale == 1.0 else slack * scale * factor
    return Quantity(
        number * scale * factor,
        unit,
        number * scale,
        shown_unit or money,
        match.start(),
        match.end(),
        exact,
        _rate(text, match.start(), match.end()),
    )


# "그중 241번이 실패했다" counts failures.
_FAILED = re.compile(r"(?:이|가|은|는)\s*(?:실패|오류|에러)")


def _rate(text: str, start: int, end: int) -> str:
    found = _RATE.match(text, end) or _RATE_BEFORE.search(text[max(0, start - 12) : start])
    return _RATE_UNITS[found.group(1).casefold()] if found else ""


_BEFORE = re.compile(
    r"(호출|오류|에러|메시지|재시도|요청|errors?|calls?|retries|messages|requests)(?:이|가|은|는|을|를)?\s*(?:[:=]|of|is|are|was|were|:)?\s*(?:총|약|about)?\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s(?:of\s|observed\s|server\s|client\s|handled\s|failed\s|kept\s)?(calls?|errors?|messages?|retries|requests?|instances?|items?|services?)\b",
    re.IGNORECASE,
)


def _counted_nearby(text: str, start: int, end: int) -> tuple[str, str]:
    """What a bare number counts, where the word is not directly behind it: "오류 5건", "errors: 5", "5 server errors"."""
    after = _AFTER.match(text, end)
    if after:
        return _UNITS[after.group(1).casefold()][0], after.group(1)
    before = _BEFORE.search(text[max(0, start - 24) : start])
    if before:
        return _UNITS[before.group(1).casefold()][0], before.group(1)
    return "", ""


def label_near(text: str, quantity: Quantity) -> str:
    """The quantile or statistic that a number belongs to ("p99", "max"), "" where none is near. Quantiles are of durations and sizes, never of counts."""
    best, distance = "", 80
    for match in LABEL.finditer(text):
        label = _label(match)
        if label.startswith("p") and quantity.unit not in {"duration", "bytes", ""}:
            continue
        if match.end() <= quantity.start:
            between = text[match.end() : quantity.start]
            # A statistic reaches over words, never over another number or clause.
            reach = 80 if label.startswith("p") or (label in {"max", "min"} and quantity.unit == "duration") else 26
            gap = len(between) if len(between) <= reach and not re.search(r"\d|;", between) else 99
        else:
            between = text[quantity.end : match.start()]
            gap = len(between) + 8 if len(between) <= 4 and "," not in between else 99
        if 0 <= gap < distance:
            best, distance = label, gap
    return best


def _label(match: re.Match[str]) -> str:
    if match.group(1) or match.group(4):
        return "p" + (match.group(1) or match.group(4))
    word = (match.group(2) or match.group(3)).casefold()
    return {
        "median": "p50",
        "중앙값": "p50",
        "average": "mean",
        "평균": "mean",
        "maximum": "max",
        "최대": "max",
        "minimum": "min",
        "최소": "min",
        "slowest": "max",
        "longest": "max",
        "가장 느린": "max",
        "fastest": "min",
        "shortest": "min",
        "가장 빠른": "min",
    }.get(word, word)


_SAME_COUNT = (
    frozenset({"calls", "times", "requests"}),
    frozenset({"messages", "times"}),
    frozenset({"retries", "times"}),
)


def _alike(claimed: str, known: str) -> bool:
    """Whether two different classes may count one thing: bare beside counted, "943 times" beside 943 calls."""
    if not claimed or not known:
        return (claimed or known) in COUNTED
    return any({claimed, known} <= group for group in _SAME_COUNT)


def same(claimed: Quantity, known: Quantity) -> bool:
    """Equal by value, unit class and sign, as far as the claim's own digits go. A bare number is compared with bare and counted ones only."""
    if claimed.rate != known.rate and claimed.rate and (known.rate or known.unit != "calls"):
        return False
    if claimed.unit != known.unit and not _alike(claimed.unit, known.unit):
        return False
    tolerance = claimed.slack + 1e-9 * max(1.0, abs(known.value))
    return abs(claimed.value - known.value) <= tolerance
