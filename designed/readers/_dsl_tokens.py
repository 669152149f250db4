"""Lines of the Structurizr DSL as tokens with offsets: quoted strings, words, braces, comments left out. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|(->|[{}=])|([^\s\"{}=]+(?:=(?!\s)[^\s\"{}]*)?)")


@dataclass(frozen=True, slots=True)
class Statement:
    """One line: its tokens without quotes, which of them were quoted, and its offsets. `opens`: ends with "{"."""

    tokens: tuple[str, ...]
    quoted: tuple[bool, ...]
    start: int
    end: int
    opens: bool

    def keyword(self, index: int = 0) -> str:
        """The token at `index` in lower case, empty where there is none or it is quoted."""
        return self.tokens[index].lower() if index < len(self.tokens) and not self.quoted[index] else ""


def statements(text: str) -> list[Statement]:
    """All lines that say something. A backslash at the end joins lines; `/* */`, `//` and `#` are comments."""
    found: list[Statement] = []
    position, size = 0, len(text)
    while position < size:
        end = text.find("\n", position)
        end = size if end < 0 else end
        start = position
        line = text[position:end]
        stripped = line.strip()
        if stripped.startswith("/*"):
            close = text.find("*/", position)
            position = size if close < 0 else close + 2
            continue
        while line.rstrip().endswith("\\") and end < size:
            following = text.find("\n", end + 1)
            end = size if following < 0 else following
            line = text[start:end]
        position = end + 1
        if not stripped or stripped.startswith(("#", "//")):
            continue
        tokens, quoted, last = [], [], start
        for match in _TOKEN.finditer(text, start, end):
            word = match.group(1) if match.group(1) is not None else match.group(2) or match.group(3)
            if match.group(1) is None and word.startswith("//"):
                break
            if word == "\\" and match.group(1) is None:
                continue
            tokens.append(word.replace('\\"', '"').replace("\\\n", " "))
            quoted.append(match.group(1) is not None)
            last = match.end()
        opens = bool(tokens) and tokens[-1] == "{" and not quoted[-1]
        if opens:
            tokens, quoted = tokens[:-1], quoted[:-1]
        found.append(Statement(tuple(tokens), tuple(quoted), start, last, opens))
    return found
