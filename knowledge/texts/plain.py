"""Plain text and everything whose exact lines matter to the readers of diagrams and specifications, verbatim."""

from __future__ import annotations

from knowledge.sections import Syntax
from knowledge.texts._shape import TextReader, decoded
from nexus.model.document import Tier

READER = TextReader(
    frozenset(
        {
            ".txt",
            ".text",
            ".mmd",
            ".mermaid",
            ".puml",
            ".plantuml",
            ".iuml",
            ".pu",
            ".dsl",
            ".json",
            ".yaml",
            ".yml",
            ".proto",
            ".dot",
            ".gv",
            ".drawio",
            ".dio",
            ".excalidraw",
            ".wsd",
            ".tpl",
            ".env",
            ".properties",
            ".tf",
            ".hcl",
            ".toml",
            ".graphql",
            ".avsc",
            ".xml",
        }
    ),
    Syntax.NONE,
    Tier.AUTHORED,
    decoded,
)
