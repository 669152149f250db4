"""A `.env` beside a compose file is part of what it says: it is ingested, scanned like anything else, and joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.collect import collect, suffix_of
from knowledge.texts import plain


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        (".env", ".env"),
        ("a/b/.env", ".env"),
        (".env.local", ".env"),
        ("shop.env", ".env"),
        ("a.MD", ".md"),
        ("Makefile", ""),
        (".envrc", ""),
    ],
)
def test_the_ending_of_a_name(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix


def test_env_files_are_collected(tmp_path: Path) -> None:
    for name in (".env", ".env.local", "shop.env", ".envrc"):
        (tmp_path / name).write_text("B_HOST=b\n", encoding="utf-8")
    found = collect(tmp_path, tmp_path, plain.READER.suffixes, max_files=10)
    assert [file.relative for file in found.files] == [".env", ".env.local", "shop.env"]
