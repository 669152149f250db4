"""Properties of every reader: quotes are verbatim whatever the text, nothing escapes, and one changed arrow changes one claim."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designed.joins import join
from designed.place import is_verbatim
from designed.reader import RawClaim, ReadContext, Reading, pick
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

CASES = Path(__file__).parent.parent / "cases" / "readers"
READERS = {
    name: reader
    for name, reader in load_plugins("designed.readers", "READER").items()
    if name not in ("markdown", "text", "entities_yaml")
}
INPUTS = sorted(
    str(p.relative_to(CASES)) for p in CASES.rglob("*") if p.is_file() and p.suffix not in (".edges", ".md")
)
NAMES = ("Cart", "Billing", "Pricing", "Ledger", "Search", "Mailer")


def source(path: str, body: str) -> SourceText:
    return SourceText(DocumentRef(path, path, path, ""), body, Path(path).suffix.lower(), path)


def read(path: str, body: str) -> Reading:
    text = source(path, body)
    reader = pick(READERS, text)
    return reader.read(text, ReadContext(path)) if reader is not None else Reading()


def check(body: str, reading: Reading, path: str) -> None:
    for item in (*reading.claims, *reading.entities, *reading.facts):
        assert is_verbatim(body, item.place), (path, item)
    assert not [p for p in reading.problems if "reader failed" in p.error], reading.problems
    for claims in join({path: reading}).values():
        assert all(is_verbatim(body, claim.place) for claim in claims)


@settings(max_examples=300)
@given(st.data())
def test_reader_survives_damage_and_quotes_verbatim(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(INPUTS))
    body = (CASES / path).read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(body) - 1)))
        kind = data.draw(st.sampled_from(("cut", "drop", "insert", "twice")))
        if kind == "cut":
            body = body[:at]
        elif kind == "drop":
            body = body[:at] + body[at + data.draw(st.integers(1, 30)) :]
        elif kind == "insert":
            body = body[:at] + data.draw(st.text("\"'[](){}<>|-:;,.=\n\t주é😀& \\/#%@*!~", max_size=6)) + body[at:]
        else:
            body = body[:at] + body[max(0, at - 40) : at] + body[at:]
    check(body, read(path, body), path)


# How each format draws an arrow between two services, as one line.
DRAWN = {
    "d.mmd": ("flowchart LR\n", "  {a}[{a}] -->|{label}| {b}[{b}]\n", ""),
    "c.mmd": ("C4Container\n", '  Rel({a}, {b}, "{label}")\n', ""),
    "s.mmd": ("sequenceDiagram\n", "  {a}->>{b}: {label}\n", ""),
    "d.puml": ("@startuml\n", "[{a}] --> [{b}] : {label}\n", "@enduml\n"),
    "c.puml": ("@startuml\n", 'Rel({a}, {b}, "{label}")\n', "@enduml\n"),
    "d.dot": ("digraph g {{\n", '  {a} -> {b} [label="{label}"];\n', "}}\n"),
    "w.dsl": ("workspace {{\n model {{\n", '  {a} -> {b} "{label}"\n', " }}\n}}\n"),
}
ARROWS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
    max_size=8,
    unique_by=frozenset,
)


def drawn(path: str, arrows: list[tuple[str, str, str]]) -> str:
    head, line, tail = DRAWN[path]
    return head.format() + "".join(line.format(a=a, b=b, label=label) for a, b, label in arrows) + tail.format()


def said(path: str, arrows: list[tuple[str, str, str]]) -> list[tuple[str, str, str, str]]:
    body = drawn(path, arrows)
    reading = read(path, body)
    check(body, reading, path)
    assert reading.problems == ()

    def key(claim: RawClaim) -> tuple[str, str, str, str]:
        return (claim.relation, claim.source.name, claim.target.name, claim.via.operation)

    return [key(claim) for claim in reading.claims]


@pytest.mark.parametrize("path", sorted(DRAWN))
@settings(max_examples=25)
@given(arrows=ARROWS, data=st.data())
def test_mutated_diagram_changes_exactly_the_mutated_claim(
    path: str, arrows: list[tuple[str, str]], data: st.DataObject
) -> None:
    before = [(a, b, f"GET /v{i}") for i, (a, b) in enumerate(arrows)]
    expected = [("CALLS", a, b, label) for a, b, label in before]
    assert said(path, before) == expected
    i = data.draw(st.integers(0, len(before) - 1))
    a, b, label = before[i]
    # In a sequence an arrow back may be an answer, so there the flipped pair must be new; pairs are unique here.
    for after in (
        before[:i] + before[i + 1 :],
        [*before[:i], (b, a, label), *before[i + 1 :]],
        [*before[:i], (a, "Archive", label), *before[i + 1 :]],
        [*before[:i], (a, b, "POST /changed"), *before[i + 1 :]],
    ):
        assert said(path, after) == [("CALLS", x, y, words) for x, y, words in after]


@settings(max_examples=40)
@given(arrows=ARROWS, order=st.randoms())
def test_order_of_statements_does_not_matter(arrows: list[tuple[str, str]], order: object) -> None:
    lines = [(a, b, "uses") for a, b in arrows]
    shuffled = list(lines)
    order.shuffle(shuffled)
    assert sorted(said("d.mmd", lines)) == sorted(said("d.mmd", shuffled))
