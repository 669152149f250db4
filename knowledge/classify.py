"""Who may read a document: path rules, front matter, marks inside the text. Default INTERNAL; a document can only raise itself. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from nexus.model.document import Classification

DEFAULT = Classification.INTERNAL
# What authors write; anything else that claims to be a level counts as the highest.
_WORDS = {
    "public": Classification.PUBLIC,
    "open": Classification.PUBLIC,
    "공개": Classification.PUBLIC,
    "internal": Classification.INTERNAL,
    "내부": Classification.INTERNAL,
    "사내": Classification.INTERNAL,
    "restricted": Classification.RESTRICTED,
    "confidential": Classification.RESTRICTED,
    "secret": Classification.RESTRICTED,
    "private": Classification.RESTRICTED,
    "기밀": Classification.RESTRICTED,
    "대외비": Classification.RESTRICTED,
}


@dataclass(frozen=True, slots=True)
class PathRule:
    """Paths that match `glob` have `level`. `**` stands for any folders, also none: `**/public/**` matches `public/a.md`."""

    glob: str
    level: Classification


DEFAULT_RULES = (
    PathRule("**/public/**", Classification.PUBLIC),
    PathRule("**/internal/**", Classification.INTERNAL),
    PathRule("**/restricted/**", Classification.RESTRICTED),
    PathRule("**/confidential/**", Classification.RESTRICTED),
)


def parse_rule(text: str) -> PathRule:
    """`GLOB=LEVEL`; ValueError says what is wrong."""
    glob, separator, level = text.rpartition("=")
    if not separator or not glob or level.strip().upper() not in Classification.__members__:
        msg = f"{text!r} is not GLOB=PUBLIC|INTERNAL|RESTRICTED"
        raise ValueError(msg)
    return PathRule(glob.strip(), Classification(level.strip().upper()))


def path_matches(path: str, glob: str) -> bool:
    """Whether a relative path (with `/`) matches a glob, segment by segment, whatever the case and form (macOS writes Hangul in its letters)."""
    one, other = (tuple(unicodedata.normalize("NFC", text).casefold().split("/")) for text in (path, glob))
    return _match(one, other)


def _match(path: tuple[str, ...], glob: tuple[str, ...]) -> bool:
    if not glob:
        return not path
    if glob[0] == "**":
        return any(_match(path[skip:], glob[1:]) for skip in range(len(path) + 1)) if len(glob) > 1 else bool(path)
    return bool(path) and fnmatchcase(path[0], glob[0]) and _match(path[1:], glob[1:])


def level_named(word: object) -> Classification | None:
    """The level that a word means; an unknown word means the highest, an empty one nothing."""
    if word is None or str(word).strip() == "":
        return None
    return _WORDS.get(str(word).strip().casefold(), Classification.RESTRICTED)


def path_levels(path: str, root: str, rules: Sequence[PathRule]) -> list[Classification]:
    """The levels that path rules give. The root's own name can raise, not lower: a web server's folder is called `public` too."""
    return [
        rule.level
        for rule in rules
        if path_matches(path, rule.glob)
        or (rule.level is not Classification.PUBLIC and root and path_matches(f"{root}/{path}", rule.glob))
    ]


def classify(levels: Sequence[Classification], stated: object, asked: Classification | None) -> Classification:
    """The level of a document. `levels` are those of `path_levels`.

    `asked` is what the one who ingests wants (checked by the caller: only who manages may ask for PUBLIC), `stated` what the
    document says of itself. The base is `asked`, else PUBLIC where only PUBLIC rules match, else INTERNAL; path rules and the
    document raise it and never lower it.
    """
    matched = list(levels)
    base = asked
    if base is None:
        base = (
            Classification.PUBLIC if matched and all(level is Classification.PUBLIC for level in matched) else DEFAULT
        )
    found = [base, *matched]
    said = level_named(stated)
    if said is not None:
        found.append(said)
    return max(found, key=lambda level: level.rank)


_MARK = re.compile(r"<!--\s*(?:(/)\s*)?classification\s*(?::\s*([\w가-힣]+)\s*)?-->", re.IGNORECASE)


def marks(text: str) -> list[tuple[int, Classification | None]]:
    """(offset, level) of each `<!-- classification: RESTRICTED -->`; None where `<!-- /classification -->` ends one."""
    return [
        (match.start(), None if match[1] else level_named(match[2]))
        for match in _MARK.finditer(text)
        if match[1] or match[2]
    ]
