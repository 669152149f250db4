"""Every reader on small inputs of its format: claims, their lines and modality, and problems, as written down beside the inputs.

`<input>.edges` holds one line a claim: `line source RELATION target [protocol|operation|channel] <modality> @environment
(reversed) weak: why`, and one line a problem: `! line text`. A folder `joined-*` is a set of documents read together.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from designed.extractors.documents import MARKUPS
from designed.joins import join
from designed.place import is_verbatim
from designed.reader import RawClaim, ReadContext, Reading, pick
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

CASES = Path(__file__).parent.parent / "cases" / "readers"
READERS = load_plugins("designed.readers", "READER")
SINGLE = sorted(path.name.removesuffix(".edges") for path in CASES.glob("*.edges"))
JOINED = sorted(path.name for path in CASES.glob("joined-*"))


def source(root: Path, path: str) -> SourceText:
    return SourceText(
        DocumentRef(path, path, path, ""), (root / path).read_text(encoding="utf-8"), Path(path).suffix.lower(), path
    )


def told(claim: RawClaim) -> str:
    parts = [f"{claim.place.lines[0]} {claim.source.name} {claim.relation} {claim.target.name}"]
    if claim.via.protocol or claim.via.operation or claim.via.channel:
        parts.append(f"[{claim.via.protocol}|{claim.via.operation}|{claim.via.channel}]")
    if claim.modality != "asserted":
        parts.append(f"<{claim.modality.value}>")
    if claim.environment:
        parts.append(f"@{claim.environment}")
    if claim.drawn:
        parts.append(f"({claim.drawn})")
    if claim.weak:
        parts.append(f"weak: {claim.weak}")
    return " ".join(parts)


def read(root: Path, path: str) -> Reading:
    text = source(root, path)
    reader = pick(READERS, text)
    assert reader is not None, f"no reader for {path}"

    def file(name: str) -> str | None:
        return (root / name).read_text(encoding="utf-8") if (root / name).is_file() else None

    reading = reader.read(text, ReadContext(path, file))
    places = [c.place for c in reading.claims] + [e.place for e in reading.entities] + [f.place for f in reading.facts]
    assert all(is_verbatim(text.text, place) for place in places), path
    return reading


@pytest.mark.parametrize("name", SINGLE)
def test_reader_says_what_stands_in_the_drawing(name: str) -> None:
    reading = read(CASES, name)
    found = [told(claim) for claim in reading.claims] + [f"! {p.line} {p.error}" for p in reading.problems]
    assert found == (CASES / f"{name}.edges").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", JOINED)
def test_documents_say_together_what_none_says_alone(name: str) -> None:
    root = CASES / name
    paths = sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.name != "expected.edges")
    readings = {path: read(root, path) for path in paths}
    found = [f"! {path} {p.line} {p.error}" for path in paths for p in readings[path].problems]
    claims = join(readings)
    for path in paths:
        assert all(is_verbatim((root / path).read_text(encoding="utf-8"), claim.place) for claim in claims[path])
        found += [f"{path}:{told(claim)}" for claim in claims[path]]
    assert found == (root / "expected.edges").read_text(encoding="utf-8").splitlines()
    assert join(dict(reversed(readings.items()))) == claims


def test_there_is_a_case_for_every_reader() -> None:
    used = set()
    for path in CASES.rglob("*"):
        if path.is_file() and path.suffix != ".edges":
            reader = pick(READERS, source(CASES, str(path.relative_to(CASES))))
            used.add(reader.name if reader else "")
    # Prose and plain text have tests of their own.
    assert set(READERS) - used <= {"entities_yaml", *MARKUPS}
