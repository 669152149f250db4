"""Tokens of services whose form says what they are: GitHub, GitLab, Slack, Google Cloud, Azure, Stripe, npm, PyPI, OpenAI, Anthropic and more, and this one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span, entropy, places

_EDGE = r"(?<![0-9A-Za-z_\-])"
_END = r"(?![0-9A-Za-z_\-])"
# How tokens begin, in the order of the pattern.
_BEGINNINGS = (
    "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- xox xapp- AIza ya29. GOCSPX- 1//0 sk_ rk_ whsec_ npm_ pypi-AgE sk- nxs_ hf_ "
    "dckr_pat_ shp glsa_ hvs. hvb. hvr. ATATT3xFfGF0 dapi AGE-SECRET-KEY-1 dop_v1_ SG."
).split()
_TOKENS = re.compile(
    _EDGE
    + r"(?:gh[pousr]_[0-9A-Za-z]{36,251}|github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59}|gl(?:pat|dt|rt)-[0-9A-Za-z_-]{20,}"
    r"|xox[abeoprs]-(?:[0-9A-Za-z]+-){1,}[0-9A-Za-z]{10,}|xapp-\d-[0-9A-Z]+-\d+-[0-9a-f]{32,}"
    r"|AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{30,}|GOCSPX-[0-9A-Za-z_-]{28}"
    r"|1//0[0-9A-Za-z_-]{40,}|[sr]k_(?:live|test)_[0-9A-Za-z]{20,}|whsec_[0-9A-Za-z+/]{32,}|npm_[0-9A-Za-z]{36}|pypi-AgE[0-9A-Za-z_-]{50,}"
    r"|sk-(?:proj|ant|svcacct|admin)-[0-9A-Za-z_-]{20,}|sk-[0-9A-Za-z]{48}|nxs_[0-9A-Za-z_-]{43}|hf_[0-9A-Za-z]{34}"
    r"|dckr_pat_[0-9A-Za-z_-]{27,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|glsa_[0-9A-Za-z]{32}_[0-9a-f]{8}|hv[sbr]\.[0-9A-Za-z_-]{24,}|ATATT3xFfGF0[0-9A-Za-z_=-]{60,}"
    r"|dapi[0-9a-f]{32}|AGE-SECRET-KEY-1[0-9A-Z]{58}"
    r"|dop_v1_[0-9a-f]{64}|SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43})" + _END
)
# What is particular stands inside: Telegram's, Azure's.
_INSIDE = (
    (":AA", 10, re.compile(_EDGE + r"[0-9]{8,10}:AA[0-9A-Za-z_-]{33}" + _END)),
    ("8Q~", 3, re.compile(_EDGE + r"[0-9A-Za-z_~.]{3}8Q~[0-9A-Za-z_~.-]{31,34}" + _END)),
)
# Azure's others have no form of their own; what they are is said beside them.
_AZURE_NAMES = ("AccountKey", "SharedAccessKey", "SharedSecretKey", "Ocp-Apim-Subscription-Key", "?sig=", "&sig=")
_AZURE = re.compile(
    r"(?:AccountKey|SharedAccessKey|SharedSecretKey|Ocp-Apim-Subscription-Key)[\"']?\s*[=:]\s*[\"']?([0-9A-Za-z+/]{32,88}={0,2})|[?&]sig=([0-9A-Za-z%+/]{43,}={0,2})"
)
_SLACK_HOOK = re.compile(
    r"https://hooks\.slack\.com/(?:services|workflows)/T[0-9A-Z]{6,}/[AB][0-9A-Z]{6,}/[0-9A-Za-z]{20,}"
)
# A key of a GCP service account is caught as a private key; this is the file's other secret half.
_RANDOM = 3.0
# No prefix is shorter; what is left of a longer one hardly moves the entropy.
_PREFIX = 4


def _find(text: str) -> Iterator[Span]:
    for match in filter(None, (_TOKENS.match(text, at) for at in places(text, _BEGINNINGS))):
        # Placeholders repeat themselves: ghp_xxxxxxxx...
        if entropy(match[0][_PREFIX:]) >= _RANDOM:
            yield match.span()
    for mark, before, pattern in _INSIDE:
        for at in places(text, (mark,)):
            inside = pattern.search(text, max(0, at - before), at + 60)
            if inside is not None and entropy(inside[0]) >= _RANDOM:
                yield inside.span()
    for match in filter(None, (_AZURE.match(text, at) for at in places(text, _AZURE_NAMES))):
        if entropy(match[1] or match[2]) >= _RANDOM:
            yield match.span()
    for match in filter(None, (_SLACK_HOOK.match(text, at) for at in places(text, ("https://hooks.slack.com/",)))):
        if entropy(match[0].rsplit("/", 1)[-1]) >= _RANDOM:
            yield match.span()


DETECTOR = Detector("service_token", _find)
