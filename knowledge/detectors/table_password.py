"""Passwords and keys in a column of their own: tables of Markdown, values between commas or tabs, whose head says what stands below."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._shape import NAME, Detector, Span, is_given, is_key, is_password, lower, places

_PASSWORD = re.compile(r"(?:[\w./-]{1,20} )?(?:password|passwd|passphrase|pw|pwd|비밀\s?번호|패스워드|비번|암호)")
_KEY = re.compile(
    r"(?:[\w./-]{1,20}[ _-])?(?:(?:api|secret|access|auth|app|secret access)[ _-]?key|(?:api|access|auth)?[ _-]?token|(?:client[ _-])?secret|토큰|(?:api|비밀|접근|인증)\s?키)"
)
_RULE = re.compile(r"[ \t|:+-]*\|[ \t|:+-]*")
# What a head of comma-separated values has of its own: no rule stands below it.
_HEADS = ("password", "passwd", "api_key", "secret", "비밀번호")
_HEAD = re.compile(r"[\"'\w .-]{1,30}(?:[,\t][\"'\w .-]{1,30})+")
_QUOTES = " \t\r`*\"'"
_SHORTEST, _ROWS = 6, 2000


def _line(text: str, at: int) -> tuple[int, int]:
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end


def _cells(text: str, start: int, end: int, bar: str) -> list[Span]:
    """Where the cells of a line stand, without what is around their content."""
    cells = []
    for cell in text[start:end].split(bar):
        inner = cell.strip(_QUOTES)
        at = start + cell.find(inner)
        cells.append((at, at + len(inner)))
        start += len(cell) + len(bar)
    return cells


def _columns(text: str, head: list[Span]) -> dict[int, bool]:
    """Column -> whether passwords stand in it (or keys)."""
    names = [text[start:end].lower() for start, end in head]
    return {
        at: bool(_PASSWORD.fullmatch(name))
        for at, name in enumerate(names)
        if _PASSWORD.fullmatch(name) or _KEY.fullmatch(name)
    }


def _below(text: str, head: list[Span], after: int, bar: str, ends: list[int]) -> Iterator[Span]:
    columns = _columns(text, head)
    for _ in range(_ROWS if columns else 0):
        start, end = after + 1, _line(text, after + 1)[1]
        # Another number of cells: the table has ended.
        if start >= len(text) or len(row := _cells(text, start, end, bar)) != len(head):
            return
        for column, password in columns.items():
            value = text[slice(*row[column])]
            if (
                len(value) >= _SHORTEST
                and not re.search(r"\s", value)
                and is_given(value)
                and not NAME.fullmatch(value)
                and (is_password if password else is_key)(value)
            ):
                yield row[column]
        after = end
        # What was a row is no head of another table, so that each line is read once.
        ends.append(end)


def _find(text: str) -> Iterator[Span]:
    ends = [0]
    at = text.find("--")
    while at >= 0:
        start, end = _line(text, at)
        if start and _RULE.fullmatch(text, start, end):
            yield from _below(text, _cells(text, *_line(text, start - 1), "|"), end, "|", ends)
        at = text.find("--", max(end, ends[-1]))
    ends, seen = [0], -1
    for at in places(lower(text), _HEADS):
        start, end = _line(text, at)
        bar = "\t" if text.find("\t", start, end) >= 0 else ","
        if (
            start != seen
            and start >= ends[-1]
            and text.find(bar, start, end) >= 0
            and _HEAD.fullmatch(text, start, end)
        ):
            yield from _below(text, _cells(text, start, end, bar), end, bar, ends)
        seen = start


DETECTOR = Detector("password", _find, generic=True)
