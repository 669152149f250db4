"""A large corpus with the statistics of real text: passages of about 500 characters, put together from lines that people wrote, in Korean and English.

The lines and the questions are those of the retrieval sets (`SHARED_DIR`), read in place; without them the lines are this repository's
own documents, and the questions their headings. Each line is analysed once, and a passage's terms are the sum of its lines'.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knowledge.language import language_of
from knowledge.tokens import Analyzer

PASSAGE = 500
LINES = 9_000


@dataclass(frozen=True)
class Line:
    text: str
    terms: Counter[int]
    length: int


def written(sets: Path) -> tuple[dict[str, list[str]], list[str]]:
    """(language -> lines in a random but fixed order, questions in both languages)."""
    texts, questions = [], []
    for name in ("k8s_ko", "k8s_en", "ko_tech"):
        path = sets / f"{name}.corpus.jsonl"
        texts += (
            [json.loads(row)["text"] for row in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
        )
    for name in ("ko-ko", "en-en", "ko_tech"):
        path = sets / name / "queries.jsonl"
        questions += (
            [json.loads(row)["text"] for row in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
        )
    if not texts:
        texts = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[1].glob("docs/**/*.md"))]
        questions = [line.lstrip("# ") for text in texts for line in text.splitlines() if line.startswith("#")]
    lines: dict[str, list[str]] = {"ko": [], "en": []}
    for line in dict.fromkeys(line.strip() for text in texts for line in text.splitlines()):
        if len(line) > 15:
            lines[language_of(line)].append(line) if language_of(line) in lines else None
    coin = random.Random(1)
    for part in (*lines.values(), questions):
        coin.shuffle(part)
    return {language: part for language, part in lines.items() if part}, questions


def analysed(lines: list[str], analyzer: Analyzer) -> list[Line]:
    """The first lines with their terms."""
    found = [(line, *analyzer.passage("", line)) for line in lines[:LINES]]
    return [Line(text, Counter(terms), length) for text, terms, length in found]


def passages(pool: list[Line], coin: random.Random) -> Iterator[tuple[str, Counter[int], int]]:
    """(text, terms, length) of passages without end."""
    while True:
        chosen: list[Line] = []
        while sum(len(line.text) for line in chosen) < PASSAGE:
            chosen.append(pool[coin.randrange(len(pool))])
        terms: Counter[int] = Counter()
        for line in chosen:
            terms.update(line.terms)
        yield "\n".join(line.text for line in chosen)[:PASSAGE], terms, sum(line.length for line in chosen)
