"""Whole documents as teams write them (decisions, runbooks, minutes, designs; English and Korean): the edges that they state, and no other.

`<document>.edges` holds one edge a line, in the document's names. A line that begins with `?` is right as well as wrong (two readers
would disagree); one that begins with `-` is stated, and not found yet.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from designed.pipeline import designed
from designed.place import is_verbatim
from designed.resolve import is_weak
from nexus.model.claim import EXPECTS_OBSERVATION
from nexus.model.document import DocumentRef, SourceText
from nexus.model.names import squeezed
from nexus.plugins import load_plugins

CASES = Path(__file__).parent.parent / "cases" / "documents"
READERS = load_plugins("designed.readers", "READER")
LINE = re.compile(r"([-?] )?(.+) (CALLS|PUBLISHES|SUBSCRIBES) (.+)")


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.edges")))
def test_a_document_states_its_edges_and_no_other(name: str) -> None:
    body = (CASES / f"{name}.md").read_text(encoding="utf-8")
    result = designed([SourceText(DocumentRef(name, name, f"{name}.md", "1"), body, ".md", f"{name}.md")], READERS)
    meant = {squeezed(spelling): squeezed(e.name) for e in result.entities for spelling in (*e.aliases, e.name)}

    def key(spelling: str) -> str:
        bare = squeezed(spelling)
        return meant.get(bare, bare)

    stated: dict[str, set[tuple[str, str, str]]] = {"": set(), "? ": set(), "- ": set()}
    for line in (CASES / f"{name}.edges").read_text(encoding="utf-8").splitlines():
        match = LINE.fullmatch(line)
        assert match is not None, line
        stated[match[1] or ""].add((key(match[2]), match[3], key(match[4])))
    found = set()
    for _, _, claim in result.claims:
        assert is_verbatim(body, claim)
        if not is_weak(claim) and claim.modality in EXPECTS_OBSERVATION:
            found.add((key(claim.source), claim.relation, key(claim.target)))
    assert found - stated["? "] == stated[""]
