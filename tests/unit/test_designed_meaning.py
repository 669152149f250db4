"""What a name of a document means in the registry."""

from __future__ import annotations

from designed.pipeline import designed
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins


def test_a_topic_is_never_the_service_of_the_same_name() -> None:
    body = "```mermaid\nflowchart LR\n  Blog[blog-service] -->|blog.*| Kafka\n```\n"
    result = designed([SourceText(DocumentRef("d", "d", "d.md", "1"), body, ".md", "d.md")], load_plugins("designed.readers", "READER"))
    assert [(c.source, c.relation, c.target) for _, _, c in result.claims] == [("blog-service", "PUBLISHES", "blog.*")]
