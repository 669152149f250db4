"""Settings files inside a Kubernetes ConfigMap: `application.yml: |`, with the lines of the manifest that they stand in."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final

import yaml

from designed.block_lines import BlockLines
from designed.reader import Fact
from designed.readers._yaml import scalar
from designed.readers.spring import address_of, settings_of

_SUFFIXES: Final = (".yml", ".yaml", ".properties")


def embedded(lines: BlockLines, config: str, file: str, node: yaml.Node, common: dict[str, str]) -> Iterator[Fact]:
    """A `config` fact for every setting of the file that a ConfigMap's entry holds; none for other files."""
    suffix = posixpath.splitext(file)[1]
    content = scalar(node)
    if suffix not in _SUFFIXES or "{{" in content:
        return
    start = node.start_mark.index
    written = lines.text[start : node.end_mark.index]
    for setting in settings_of(content, suffix, BlockLines(content))[0]:
        leaf = re.escape(re.split(r"[.\[]", setting.key)[-1].rstrip("]") if suffix != ".properties" else setting.key)
        line = re.search(rf"^.*?(?:{leaf}.*?)?{re.escape(setting.value)}.*$", written, re.MULTILINE)
        if line is not None:
            place = lines.place(start + line.start(), start + line.end())
            yield Fact("config", config, setting.key, address_of(setting), place, common)
