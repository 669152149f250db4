"""Questions for everyone who uses a technology that is no name of the registry: "who uses redis?", "카프카를 쓰는 서비스는?". Pure."""

from __future__ import annotations

import re

from nexus.model.edge import ObservedEdge
from nexus.model.service import NodeKind
from nexus.ports.answers import Edge

_I = re.IGNORECASE
# As telemetry names it -> its spellings. What is not in here is a name, and unknown where the registry does not hold it.
_SPELLINGS = {
    "postgresql": "postgresql|postgres|포스트그레(?:스|SQL|스큐엘)",
    "mysql": "mysql|마이에스큐엘",
    "mariadb": "mariadb|maria db|마리아디비",
    "mssql": "mssql|sql server",
    "oracle": "oracle|오라클",
    "sqlite": "sqlite",
    "mongodb": "mongodb|mongo|몽고(?:디비|DB)",
    "redis": "redis|레디스",
    "memcached": "memcached|멤캐시드",
    "cassandra": "cassandra|카산드라",
    "dynamodb": "dynamodb|다이나모(?:디비|DB)",
    "elasticsearch": "elasticsearch|elastic search|엘라스틱\\s?서치",
    "opensearch": "opensearch|오픈\\s?서치",
    "clickhouse": "clickhouse|클릭하우스",
    "neo4j": "neo4j",
    "kafka": "kafka|카프카",
    "rabbitmq": "rabbitmq|rabbit mq|래빗엠큐",
    "nats": "nats",
    "pulsar": "pulsar|펄사",
    "grpc": "grpc|지알피씨",
    "graphql": "graphql|그래프큐엘",
}
_ENDS = r"(?:[을를이가은는로에의]|으로|에서)?(?![가-힣A-Za-z0-9])"
_NAMED = {name: re.compile(rf"(?<![\w./-])(?:{spelt}){_ENDS}(?![/-])", _I) for name, spelt in _SPELLINGS.items()}
_EXACT = {name: re.compile(spelt, _I) for name, spelt in _SPELLINGS.items()}
# What may stand around it: anything else asks for something of it that no graph knows.
_USING = re.compile(
    r"us(?:e[sd]?|ing)|calls?|calling|depends?|depending|talks?|connects?|relies|rely|누가|누구|쓰\S*|쓴\S*|써\S*|(?:사용|이용|의존|호출|접근|연결)\S*",
    _I,
)
_AROUND = re.compile(
    r"who|what|which|list|show|name|find|give|tell|me|all|of|the|our|any|anyone|anybody|is|are|do|does|we|on|to|by|being|currently|please|services?|systems?|apps?|components?|else|that|there"
    r"|우리|현재|지금|어떤|어느|무슨|모든|뭐\S{0,3}|무엇\S{0,3}|목록\S?|전부|모두|다|있\S*|알려\S*|보여\S*|하는|하고|중인|주세요|줘|서비스\S{0,2}|곳\S?|것\S?|시스템\S?|어디\S{0,3}",
    _I,
)


def technology(text: str) -> str | None:
    """The one technology whose users a question wants; None where it asks for something else."""
    found = [(name, match) for name, spelt in _NAMED.items() if (match := spelt.search(text)) is not None]
    if len(found) != 1:
        return None
    name, match = found[0]
    words = re.findall(r"[\w-]+", text[: match.start()] + " " + text[match.end() :])
    using = [word for word in words if _USING.fullmatch(word)]
    return name if using and all(word in using or _AROUND.fullmatch(word) for word in words) else None


def uses(edge: Edge, name: str) -> bool:
    """Whether an edge goes to a store or channel of that technology, or is carried by it: told by the target's name, or by the protocol."""
    spelt = _EXACT[name]
    protocols = edge.protocols if isinstance(edge, ObservedEdge) else (edge.via.protocol,)
    if any(spelt.fullmatch(one) for one in protocols):
        return True
    return edge.target.kind is not NodeKind.SERVICE and any(
        spelt.fullmatch(word) for word in re.split(r"[^\w]+|_", edge.target.name)
    )
