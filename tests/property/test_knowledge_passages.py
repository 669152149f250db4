"""Passages: joined they give the original; identifiers survive an inserted section; nothing is cut inside a character."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.graphemes import may_cut
from knowledge.passages import WHOLE_LIMIT, chunk
from knowledge.sections import Kind, Syntax

PIECES = st.sampled_from(
    [
        "# Title\n",
        "## 절\n",
        "Heading\n=====\n",
        "sub\n---\n",
        "text with words. And more of it! ",
        "한국어 문장이 이어진다. ",
        "\n",
        "\n\n",
        "```python\nx = 1\n\n# no heading\n```\n",
        "~~~\nopen fence\n",
        "| a | b |\n| - | - |\n| 1 | 2 |\n",
        "- item\n",
        "👩‍👩‍👧‍👦🇰🇷é",
        "가나다" * 60,
        "x" * 300,
        "\t",
        "<!-- classification: RESTRICTED -->\n",
        "<!-- /classification -->\n",
        "    indented\n",
        "> quote\n",
        "***\n",
        "==\n",
        "| not a table\n",
        "e\u0301\u0302" * 40,
        "---\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)


@settings(max_examples=150)
@given(TEXTS, st.sampled_from(list(Syntax)), st.sampled_from([(1000, 200), (300, 50), (200, 0)]))
def test_joined_they_give_the_original(text, syntax, sizes):
    size, overlap = sizes
    found = chunk(text, syntax, size=size, overlap=overlap)
    assert "".join(text[piece.start : piece.end] for piece in found) == text
    assert [piece.start for piece in found[1:]] == [piece.end for piece in found[:-1]]
    for piece in found:
        assert text[: piece.start].endswith(piece.lead)
        assert may_cut(text, piece.start)
        assert piece.lines[0] == text.count("\n", 0, piece.start) + 1
        assert piece.lines[0] <= piece.lines[1] <= text.count("\n") + 1


@settings(max_examples=60)
@given(TEXTS)
def test_only_whole_blocks_are_longer_than_the_size(text):
    for piece in chunk(text, Syntax.NONE, size=300, overlap=50):
        assert piece.end - piece.start + len(piece.lead) <= 300
    for piece in chunk(text, Syntax.MARKDOWN, size=300, overlap=50):
        assert piece.end - piece.start <= max(300, WHOLE_LIMIT)


def sections(text: str) -> dict[tuple[str, ...], str]:
    return {piece.section: text[piece.start : piece.end] for piece in chunk(text, Syntax.MARKDOWN)}


def test_an_inserted_section_leaves_the_others_as_they_were():
    before = "# A\n\nintro\n\n## One\n\nfirst\n\n## Two\n\nsecond\n"
    after = "# A\n\nintro\n\n## One\n\nfirst\n\n## New\n\ninserted\n\n## Two\n\nsecond\n"
    old, new = sections(before), sections(after)
    assert {path: new[path] for path in old} == old
    assert ("A", "New") in new


def test_headings_of_every_kind_and_depth():
    text = "Title\n=====\n\na\n\nSub\n---\n\nb\n\n### Three #\n\nc\n\n#### [Four](x) `code` {#id}\n\nd\n\n##### 5\n\ne\n\n###### 6\n\nf\n"
    assert list(sections(text)) == [
        ("Title",),
        ("Title", "Sub"),
        ("Title", "Sub", "Three"),
        ("Title", "Sub", "Three", "Four code"),
        ("Title", "Sub", "Three", "Four code", "5"),
        ("Title", "Sub", "Three", "Four code", "5", "6"),
    ]


def test_fences_and_tables_stay_whole_and_their_hashes_are_no_headings():
    fence = "```sh\n" + "# not a heading\n" * 100 + "```\n"
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 150
    text = "# T\n\n" + "word " * 150 + "\n\n" + fence + "\n" + table + "\nend\n"
    pieces = [text[piece.start : piece.end] for piece in chunk(text, Syntax.MARKDOWN)]
    assert any(fence.strip() in piece for piece in pieces)
    assert any(table.strip() in piece for piece in pieces)
    assert {piece.section for piece in chunk(text, Syntax.MARKDOWN)} == {("T",)}


def test_a_mark_raises_a_stretch_and_nothing_around_it():
    text = "# A\n\nopen\n\n<!-- classification: RESTRICTED -->\nhidden\n\n<!-- /classification -->\nopen again\n\n## B\n\nmore\n"
    levels = {
        text[piece.start : piece.end].strip().splitlines()[-1]: piece.level for piece in chunk(text, Syntax.MARKDOWN)
    }
    assert levels == {"open": None, "hidden": "RESTRICTED", "open again": None, "more": None}
    assert all(piece.lead == "" for piece in chunk(text, Syntax.MARKDOWN))


def test_front_matter_is_a_passage_of_its_own():
    text = "---\ntitle: x\n---\n# A\n\nbody\n"
    found = chunk(text, Syntax.MARKDOWN, front=text.index("# A"))
    assert [piece.kind for piece in found] == [Kind.FRONT, Kind.TEXT]


def test_rst_and_asciidoc_headings():
    assert [p.section for p in chunk("Top\n===\n\na\n\nSub\n---\n\nb\n\nTop2\n====\n\nc\n", Syntax.RST)] == [
        ("Top",),
        ("Top", "Sub"),
        ("Top2",),
    ]
    assert [p.section for p in chunk("= Top\n\na\n\n== Sub\n\nb\n\n----\n= code\n----\n", Syntax.ASCIIDOC)] == [
        ("Top",),
        ("Top", "Sub"),
    ]
