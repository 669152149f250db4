"""Markdown read line by line gives the blocks that the library gives."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from designed.extractors.blocks_markdown import _library, parse
from designed.place import Lines

LINES = [
    "",
    "",
    "text here",
    "text | a",
    "| a | b |",
    "|---|---|",
    "- item",
    "- item **x**",
    "* item",
    "1. one",
    "2. two",
    "  - nested",
    "   continued",
    "> quote",
    "# H",
    "## H2 ##",
    "```",
    "```json",
    "~~~",
    "---",
    "===",
    "<div>",
    "<!-- c",
    "-->",
    "    code",
    "[a]: /u",
    "**bold** x",
    "* * *",
    "- # h",
    "+ x",
    "10) y",
    "01. z",
    "1) w",
    "8 apples",
    "```a`b",
    "`code` z",
    "|x",
    "a | b",
    "\ttab",
    "- [ ] todo",
    "<pre>",
    "</pre>",
    "1.",
    "-",
    "#x",
    "결제 서비스",
    "| `a|b` | c |",
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(LINES), max_size=14))
def test_both_ways_of_reading_agree(lines: list[str]) -> None:
    # Not at the top, where `---` begins front matter.
    lines = ["", *lines, ""]
    text = "\n".join(lines)
    assert list(parse(text).blocks) == _library(Lines(text), lines, 0, len(lines))
