"""Each word that the pages ask for exists in both languages, and nothing of the pages parses text as markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import api.web

STATIC = Path(api.web.__file__).parent / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
WORDS = dict.fromkeys(re.findall(r"(\w+): \[\"", (STATIC / "i18n.js").read_text(encoding="utf-8")))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_every_word_exists(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    used = set(re.findall(r"""\bt\("(\w+)"\)""", text))
    # A count names the word of one and that of several.
    counted = re.findall(r"""\bmany\([^"]+, "(\w+)", "(\w+)"\)""", text)
    used |= {word for pair in counted for word in pair}
    assert len(counted) == len(re.findall(r"(?<!const )\bmany\(", text))
    assert used - set(WORDS) == set()


def test_every_word_has_both_languages() -> None:
    pairs = re.findall(r"(\w+): \[(\"[^\"]*\"(?:, \"[^\"]*\")*)\]", (STATIC / "i18n.js").read_text(encoding="utf-8"))
    assert pairs
    assert [key for key, words in pairs if words.count('", "') != 1] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_nothing_is_parsed_as_markup(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    for danger in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
    ):
        assert danger not in text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_no_count_is_said_with_one_word_for_one_and_several(script: Path) -> None:
    """A number before a word that stands for several is a place where one of them reads "1 nodes"."""
    text = script.read_text(encoding="utf-8")
    assert re.findall(r"""\$\{[^{}]*(?:length|number\([^{}]*\))\} ?\$\{t\("\w+s"\)\}""", text) == []
    assert "(s)" not in text
