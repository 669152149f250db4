"""Levels: path rules, front matter that can only raise, marks inside a text."""

from __future__ import annotations

import pytest

from knowledge.classify import DEFAULT_RULES, classify, level_named, marks, parse_rule, path_levels, path_matches
from nexus.model.document import Classification as C


@pytest.mark.parametrize(
    ("path", "stated", "asked", "level"),
    [
        ("a.md", None, None, C.INTERNAL),
        ("public/a.md", None, None, C.PUBLIC),
        ("docs/Public/deep/a.md", None, None, C.PUBLIC),
        ("public.md", None, None, C.INTERNAL),
        ("public", None, None, C.INTERNAL),
        ("restricted/a.md", None, None, C.RESTRICTED),
        ("restricted/a.md", None, C.PUBLIC, C.RESTRICTED),
        ("public/restricted/a.md", None, None, C.RESTRICTED),
        ("restricted/public/a.md", None, None, C.RESTRICTED),
        ("public/a.md", None, C.INTERNAL, C.INTERNAL),
        ("a.md", "PUBLIC", None, C.INTERNAL),
        ("public/a.md", "restricted", None, C.RESTRICTED),
        ("public/a.md", "internal", None, C.INTERNAL),
        ("a.md", None, C.PUBLIC, C.PUBLIC),
        ("a.md", "confidential", C.PUBLIC, C.RESTRICTED),
        ("a.md", "대외비", None, C.RESTRICTED),
        ("a.md", "top-secret-ultra", None, C.RESTRICTED),
        ("a.md", "", None, C.INTERNAL),
    ],
)
def test_level(path, stated, asked, level):
    assert classify(path_levels(path, "docs", DEFAULT_RULES), stated, asked) is level


def test_the_name_of_the_root_can_raise_and_not_lower():
    assert classify(path_levels("a.md", "restricted", DEFAULT_RULES), None, None) is C.RESTRICTED
    assert classify(path_levels("a.md", "public", DEFAULT_RULES), None, None) is C.INTERNAL


def test_two_stars_stand_for_any_folders_also_none():
    assert path_matches("public/a.md", "**/public/**")
    assert path_matches("x/y/public/z/a.md", "**/public/**")
    assert not path_matches("public", "**/public/**")
    assert path_matches("a.md", "*.md")
    assert not path_matches("x/a.md", "*.md")
    assert path_matches("x/y/a.md", "**/*.md")


def test_rules_are_checked():
    assert parse_rule("hr/**=RESTRICTED").level is C.RESTRICTED
    for text in ("hr/**", "hr/**=SECRET", "=PUBLIC"):
        with pytest.raises(ValueError, match="GLOB"):
            parse_rule(text)


def test_marks_open_and_close():
    text = "a\n<!-- classification: RESTRICTED -->\nb\n<!-- /classification -->\nc <!-- just a comment -->"
    assert [level for _, level in marks(text)] == [C.RESTRICTED, None]


def test_an_unknown_word_means_the_highest_level():
    assert level_named("whatever") is C.RESTRICTED
    assert level_named(None) is None
