"""Front matter that YAML reads and JSON, a database or the memory cannot hold; and what a killed upload leaves."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from knowledge.front_matter import MAX_VALUES, front_matter
from knowledge.uploads import ABANDONED_S, namespace_folder, store

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a {b: *a}\n", BOMB, "a: [" + "1, " * MAX_VALUES + "1]\n"])
def test_values_without_end_are_a_problem_and_give_nothing(text: str) -> None:
    end, values, problem = front_matter(f"---\n{text}---\nbody\n")
    assert (values, problem) == ({}, "front matter is too large") and end == len(text) + 8


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("history:\n  2024-01-01: made\n  2: 3\n", {"history": {"2024-01-01": "made", "2": 3}}),
        ('owner: "k\\ud800im\\0"\n', {"owner": "k?im"}),
        ("n: .nan\nm: -.inf\n", {"n": "nan", "m": "-inf"}),
        ("b: !!binary QUtJQQ==\n", {"b": "AKIA"}),
        ("s: !!set {b, a}\n", {"s": ["a", "b"]}),
        ("x: 0x" + "f" * 5000 + "\n", {"x": "0x" + "f" * 5000}),
        ("x: 17\ny: 1.5\nz: true\nnone: ~\n", {"x": 17, "y": 1.5, "z": True, "none": None}),
    ],
)
def test_values_are_as_json_and_the_database_can_hold_them(text: str, values: dict[str, object]) -> None:
    _, found, problem = front_matter(f"---\n{text}---\n")
    assert (found, problem) == (values, "")
    json.dumps(found, ensure_ascii=False, allow_nan=False).encode()


def test_what_a_killed_upload_left_goes_and_one_that_is_being_written_stays(tmp_path: Path) -> None:
    folder = namespace_folder(tmp_path, "default", "default")
    folder.mkdir(parents=True)
    old, new = folder / ".#old.part", folder / ".#new.part"
    for left in (old, new):
        left.write_text("half a document")
    past = time.time() - 2 * ABANDONED_S
    os.utime(old, (past, past))
    store(tmp_path, "default", "default", "a.md", b"# A\n", 100)
    assert sorted(path.name for path in folder.iterdir()) == [".#new.part", "a.md"]
