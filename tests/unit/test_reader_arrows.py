"""Arrows that diagrams draw in their rarer ways: what is related, and what only looks like it."""

from __future__ import annotations

import pytest

from designed.reader import ReadContext, pick
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

READERS = load_plugins("designed.readers", "READER")

ARCHETYPES = """workspace {
    model {
        archetypes {
            sync = -> {
                tags "Synchronous"
            }
            https = --sync-> {
                technology "HTTPS"
            }
            springApp = container {
                technology "Spring"
            }
        }
        shop = softwareSystem "Shop" {
            web = springApp "Web"
            api = container "API"
        }
        mail = softwareSystem "Mail"
        web --https-> mail "sends"
        web -> api
        deploymentEnvironment "Live" {
            deploymentNode "host" {
                w = containerInstance web
                a = containerInstance api
                w -/> a
            }
        }
    }
}
"""


@pytest.mark.parametrize(
    ("path", "body", "related"),
    [
        ("a.dsl", ARCHETYPES, {("Web", "Mail", "HTTPS"), ("Web", "API", "")}),
        (
            "turned.puml",
            "@startuml\n[A] -left[dotted]-> [B]\n[A] -[#red]down-> [C]\n@enduml\n",
            {("A", "B", ""), ("A", "C", "")},
        ),
        ("kinds.puml", "@startuml\n[A] <|-- [B]\n[C] ..|> [D]\n[A] --> [D]\n@enduml\n", {("A", "D", "")}),
        ("half.puml", "@startuml\nA -\\\\ B : x\nA //-- C : y\n@enduml\n", {("A", "B", ""), ("C", "A", "")}),
    ],
)
def test_an_arrow_relates(path: str, body: str, related: set[tuple[str, str, str]]) -> None:
    text = SourceText(DocumentRef(path, path, path, ""), body, "." + path.rsplit(".", 1)[1], path)
    reader = pick(READERS, text)
    assert reader is not None
    found = reader.read(text, ReadContext(path))
    assert not found.problems
    assert {(c.source.name, c.target.name, c.attributes.get("technology", "")) for c in found.claims} == related
