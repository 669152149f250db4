"""What single sentences state: one sentence a case, its claims behind `=>`, in `data/sentences_*.txt`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from designed.pipeline import designed
from nexus.model.claim import Modality
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins


def cases() -> Iterator[tuple[str, str, str]]:
    """(names, sentence, claims) of every file; `#names` holds for what follows it."""
    for file in sorted((Path(__file__).parent / "data").glob("sentences_*.txt")):
        names = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("#names "):
                names = line.removeprefix("#names ")
            elif line:
                sentence, _, wanted = line.partition(" =>")
                yield names, sentence, wanted


def _claims(text: str, path: str) -> list[str]:
    source = SourceText(DocumentRef(path, path, path, "1"), text, ".md", path)
    result = designed([source], load_plugins("designed.readers", "READER"))
    return sorted(
        f"{c.source} {c.relation} {c.target}" + ("" if c.modality is Modality.ASSERTED else f" [{c.modality.value}]")
        for _, _, c in result.claims
    )


@pytest.mark.parametrize(("names", "sentence", "wanted"), cases())
def test_a_sentence_states(names: str, sentence: str, wanted: str) -> None:
    table = "".join(f"| {name} |\n" for name in names.split(", "))
    found = _claims(f"# Notes\n\n| Service |\n|---|\n{table}\n## Text\n\n{sentence}\n", "notes.md")
    assert found == sorted(filter(None, map(str.strip, wanted.split(";"))))


def test_a_document_with_an_absolute_path_is_read() -> None:
    """The nearest `.env` of "/srv/notes.md" is looked for up to the root, and no further."""
    assert _claims("The cart service calls the payment service.\n", "/srv/docs/notes.md") == [
        "cart-service CALLS payment-service"
    ]
