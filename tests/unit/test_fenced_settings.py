"""Settings in fences of a document: whose they are, and whose address they hold."""

from __future__ import annotations

import pytest

from designed.pipeline import designed
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

READERS = load_plugins("designed.readers", "READER")
HEAD = """# Order Service

| Service |
|---|
| Order Service |
| product-service |
| payment-service |
| api-gateway |

## Settings

"""


def stated(language: str, body: str) -> set[tuple[str, str, str, int]]:
    text = SourceText(DocumentRef("d.md", "d", "d.md", "r"), f"{HEAD}```{language}\n{body}\n```\n", ".md", "d.md")
    return {
        (c.source, c.target, c.quote.strip(), c.lines[0] - HEAD.count("\n") - 1)
        for _, _, c in designed([text], READERS).claims
    }


@pytest.mark.parametrize(
    ("language", "body", "expected"),
    [
        (
            "yaml",
            "feign:\n  clients:\n    product-service:\n      url: http://localhost:8083\n  client:\n    config:\n      default:\n        url: x",
            {("order-service", "product-service", "url: http://localhost:8083", 4)},
        ),
        (
            "yml",
            "feign:\n  client:\n    config:\n      shop:\n        url: ${SHOP_URL:http://payment-service:8080}",
            {("order-service", "payment-service", "url: ${SHOP_URL:http://payment-service:8080}", 5)},
        ),
        (
            "properties",
            "feign.client.product-service.url=http://localhost:1\nspring.redis.port=1",
            {("order-service", "product-service", "feign.client.product-service.url=http://localhost:1", 1)},
        ),
        (
            "yaml",
            "spring:\n  cloud:\n    gateway:\n      routes:\n        - id: payment-service\n          uri: http://localhost:8082\n        - id: x\n          uri: lb://product-service",
            {
                ("api-gateway", "payment-service", "uri: http://localhost:8082", 6),
                ("api-gateway", "product-service", "uri: lb://product-service", 8),
            },
        ),
        ("yaml", "feign:\n  clients:\n    nobody-knows:\n      url: http://localhost:1", set()),
        ("yaml", "feign: [\n  broken", set()),
        ("yaml", "replicas: 3\nurl: http://payment-service:8080", set()),
    ],
)
def test_spring_settings(language, body, expected):
    assert stated(language, body) == expected


def test_front_matter_that_is_no_yaml_is_told():
    text = SourceText(DocumentRef("d.md", "d", "d.md", "r"), "---\nservice: a\nuses: [\n---\n\n# A\n", ".md", "d.md")
    [problem] = designed([text], READERS).problems
    assert problem.line in (3, 4)
