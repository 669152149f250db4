"""Questions about all participants of a kind, none of them named: "what external services do we call?", "어떤 토픽이 있어?". Pure."""

from __future__ import annotations

import re

from nexus.model.service import NodeKind

_I = re.IGNORECASE
_NOUNS = {
    NodeKind.EXTERNAL: re.compile(
        r"\b(?:external|third[- ]party|3rd[- ]party|outside)\s+(?:services?|apis?|systems?|providers?|vendors?|hosts?|endpoints?|dependenc(?:y|ies)|partners?)\b"
        r"|(?:외부|서드\s?파티)\s?(?:서비스|API|시스템|연동|의존성?|업체|호스트)(?:들?[은는이가을를과와에의]?)(?![가-힣])",
        _I,
    ),
    NodeKind.TOPIC: re.compile(r"\b(?:topics|queues)\b|(?:토픽|큐)(?:들?[은는이가을를]?)(?![가-힣])", _I),
    NodeKind.DATABASE: re.compile(
        r"\b(?:databases|dbs|data\s?stores)\b|(?:데이터베이스|디비|DB)(?:들?[은는이가을를]?)(?![가-힣A-Za-z])", _I
    ),
}
# What may stand around the noun: anything else asks for something of them that no graph knows.
_ASKING = re.compile(
    r"what|which|list|show|name|give|tell|me|all|of|the|our|any|are|is|do|does|we|us|use[ds]?|using|calls?|called|depend|on|have|there|exist|being|currently|please|services?|systems?|by"
    r"|우리(?:가|는)?|현재|지금|어떤|무슨|모든|전체|뭐\S{0,3}|뭘|무엇\S{0,3}|목록\S?|전부|모두|다|있\S*|알려\S*|보여\S*|쓰\S*|써\S*|(?:사용|호출|의존|연동|이용)\S*|하는|하고|주세요|줘|서비스\S?",
    _I,
)


def kind_of_all(text: str) -> NodeKind | None:
    """The kind of participant that a question wants all of; None where it asks for something else."""
    for kind, noun in _NOUNS.items():
        rest, found = noun.subn(" ", text)
        words = re.findall(r"[\w-]+", rest)
        if found == 1 and words and all(map(_ASKING.fullmatch, words)):
            return kind
    return None
