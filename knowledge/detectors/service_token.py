"""Tokens of services whose form says what they are: GitHub, GitLab, Slack, Google Cloud, Azure, Stripe, npm, PyPI, OpenAI, Anthropic and more, and this one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._forms import FORMS
from knowledge.detectors._shape import Detector, Span, entropy, places

_EDGE = r"(?<![0-9A-Za-z_\-])"
_END = r"(?![0-9A-Za-z_\-])"
_BY_BEGINNING = tuple(
    (beginning, re.compile(f"{_EDGE}{re.escape(beginning)}({rest}){_END}"))
    for beginnings, rest in FORMS
    for beginning in beginnings.split()
)
# What is particular stands inside or at the end: Telegram's, Azure's, HashiCorp's, Mailchimp's, New Relic's, Kakao's, Firebase's, Discord's, Asana's.
# (mark, characters before it, pattern)
_INSIDE = tuple(
    (mark, before, re.compile(f"{_EDGE}({form}){_END}"))
    for mark, before, form in (
        (":AA", 10, r"[0-9]{8,10}:AA[0-9A-Za-z_-]{33}"),
        ("8Q~", 3, r"[0-9A-Za-z_~.]{3}8Q~[0-9A-Za-z_~.-]{31,34}"),
        (".atlasv1.", 14, r"[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60,70}"),
        ("-us", 32, r"[0-9a-f]{32}-us\d{1,2}"),
        ("NRAL", 36, r"[0-9a-f]{36}NRAL"),
        ("KakaoAK ", 0, r"KakaoAK [0-9a-f]{32}"),
        (":APA91b", 11, r"AAAA[0-9A-Za-z_-]{7}:APA91b[0-9A-Za-z_-]{60,}"),
        ("/12", 17, r"[12]/\d{15,17}/\d{15,17}:[0-9a-f]{32}"),
    )
)
_REACH = 300
# Discord's: a number in base64, a time and a signature.
_BOT = re.compile(
    rf"{_EDGE}([MNO](?=[A-Za-z_-]*\d)[0-9A-Za-z_-]{{23,27}}\.[0-9A-Za-z_-]{{6}}\.[0-9A-Za-z_-]{{27,40}}){_END}"
)
# Others have no form of their own; what they are is said beside them, or by the address that takes whoever knows it.
_NAMED = re.compile(
    r"(?:SNYK_TOKEN|HEROKU_API_KEY|HEC_TOKEN|_authToken)[\"']?\s?[=:]\s?[\"']?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    rf"|VAULT_TOKEN[\"']?\s?[=:]\s?[\"']?(s\.[0-9A-Za-z]{{24}}){_END}"
    # Of ten characters only.
    rf"|(?i:(?:naver|네이버)[ ._-]client[ ._-]secret)[\"']?\s?[=:]\s?[\"']?((?=[a-z_]*[A-Z0-9])(?=[A-Z0-9_]*[a-z])[0-9A-Za-z_]{{10}}){_END}"
    # Of a cluster that nodes join; the one of the documentation is a row of the alphabet.
    rf"|(?:--token[ =]|token:[ ]?[\"']?)(?!abcdef\.)((?=[a-z.]*\d)[0-9a-z]{{6}}\.[0-9a-z]{{16}}){_END}"
    r"|serviceKey=([0-9A-Za-z%+/]{60,}(?:=|%3D|%3d){0,2})"
)
_NAMES = (
    *("SNYK_TOKEN", "HEROKU_API_KEY", "HEC_TOKEN", "_authToken", "VAULT_TOKEN", "serviceKey=", "--token", "token:"),
    *(
        "Naver-Client-Secret",
        "NAVER_CLIENT_SECRET",
        "naver_client_secret",
        "naver.client-secret",
        "naver.client_secret",
        "Naver Client Secret",
        "네이버",
    ),
)
_AZURE_NAMES = ("AccountKey", "SharedAccessKey", "SharedSecretKey", "Ocp-Apim-Subscription-Key", "?sig=", "&sig=")
_AZURE = re.compile(
    r"(?:AccountKey|SharedAccessKey|SharedSecretKey|Ocp-Apim-Subscription-Key)[\"']?\s*[=:]\s*[\"']?([0-9A-Za-z+/]{32,88}={0,2})|[?&]sig=([0-9A-Za-z%+/]{43,}={0,2})"
)
_HOOKS = tuple(
    re.compile(form)
    for form in (
        r"//hooks\.slack\.com/(?:services|workflows)/T[0-9A-Z]{6,}/[AB][0-9A-Z]{6,}/([0-9A-Za-z]{20,})",
        r"//(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{17,20}/([0-9A-Za-z_-]{60,})",
        r"//(?:[\w-]+\.webhook\.office|outlook\.office)\.com/webhook(?:b2)?/[0-9a-f@-]{36,}/IncomingWebhook/([0-9a-f]{32})",
    )
)
_RANDOM = 3.0
# No token that has a beginning of its own is shorter: what else there is in a text need not be looked at for each of them.
_LONG = re.compile(r"[0-9A-Za-z_.+/=-]{20,}")


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Each with what is random of it as a group."""
    long = " ".join(_LONG.findall(text))
    if _BOT.search(long):
        yield from _BOT.finditer(text)
    for beginning, pattern in _BY_BEGINNING:
        if beginning in long:
            yield from filter(None, (pattern.match(text, at) for at in places(text, (beginning,))))
    for mark, before, pattern in _INSIDE:
        yield from filter(
            None, (pattern.search(text, max(0, at - before), at + _REACH) for at in places(text, (mark,)))
        )
    yield from filter(None, (_AZURE.match(text, at) for at in places(text, _AZURE_NAMES)))
    yield from filter(None, (_NAMED.match(text, at) for at in places(text, _NAMES)))
    for at in places(text, ("//",)):
        yield from filter(None, (hook.match(text, at) for hook in _HOOKS))


def _find(text: str) -> Iterator[Span]:
    for match in _matches(text):
        # Placeholders repeat themselves: ghp_xxxxxxxx...
        if entropy(next(filter(None, match.groups()))) >= _RANDOM:
            yield match.span()


DETECTOR = Detector("service_token", _find)
