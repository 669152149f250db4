"""Settings files in JSON that hold addresses: `{"GeoMongoAddress": "mongodb-geo:27017"}`. Facts only; joined where names are known."""

from __future__ import annotations

import re
from typing import Final

import yaml

from designed.addresses import addresses, holds_address
from designed.block_lines import BlockLines
from designed.reader import Fact, Format, ReadContext, Reader, Reading
from designed.readers._yaml import json_tree, pairs, scalar, span
from nexus.model.document import SourceText

_SNIFF: Final = re.compile(
    r"\"[\w.-]*(?:addr(?:ess)?|host|url|uri|endpoint|server|broker|dsn)s?\"\s*:\s*\"[^\"\n]{1,300}\"", re.IGNORECASE
)
_MAX_LENGTH: Final = 200_000
_MAX_DEPTH: Final = 6


def accepts(text: SourceText) -> bool:
    """A small JSON object with a key that ends like an address."""
    return (
        text.suffix == ".json"
        and len(text.text) <= _MAX_LENGTH
        and text.text.lstrip().startswith("{")
        and _SNIFF.search(text.text) is not None
    )


def read(text: SourceText, context: ReadContext) -> Reading:
    """One fact a setting with an address."""
    del context
    lines = BlockLines(text.text)
    root = json_tree(text.text)
    facts: list[Fact] = []
    if root is not None:
        _walk(lines, root, "", facts, 0)
    return Reading(facts=tuple(facts))


def _walk(lines: BlockLines, node: yaml.Node, path: str, facts: list[Fact], depth: int) -> None:
    if depth > _MAX_DEPTH:
        return
    for key, k, value in pairs(node):
        dotted = f"{path}.{key}" if path else key
        if isinstance(value, yaml.MappingNode):
            _walk(lines, value, dotted, facts, depth + 1)
        elif scalar(value) and holds_address(key) and addresses(scalar(value), key):
            facts.append(
                Fact("setting", "", dotted, scalar(value), lines.place(*span(k, value)), {"format": "json_config"})
            )


READER: Final[Reader] = Format("json_config", accepts, read, 40)
