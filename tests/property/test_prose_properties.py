"""What must hold for any text: quotes are verbatim, unrelated paragraphs change nothing, what is gone from the text is gone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from designed.codec import from_json, to_json
from designed.pipeline import designed, read
from designed.place import is_verbatim
from designed.reader import Reading
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

READERS = load_plugins("designed.readers", "READER")
NAMES = "entities:\n  - {name: order, aliases: [주문 서비스]}\n  - {name: payment, aliases: [결제 서비스]}\n  - {name: stock}\n  - {name: kafka, kind: topic}\n  - {name: cache, kind: database}\n"
STATING = [
    "The order service calls the payment service.",
    "`order` publishes `order.created` to Kafka.",
    "주문 서비스는 결제 서비스를 호출한다.",
    "The **payment service** queries\nthe `stock` service over gRPC.",
    "| From | To |\n|---|---|\n| order | stock |",
    "- order → payment",
    "주문 서비스는 `order.created` 이벤트를 발행한다.",
    "Sessions are kept in the cache by the order service.",
]
IDLE = [
    "Nothing depends on this paragraph.",
    "Orders are listed in alphabetical order.",
    "```sh\nmake up\n```",
    "오늘은 날씨가 좋다.",
    "* a list\n* of things",
    "> A quotation.",
    "<!-- a comment -->",
    "![picture](order.png)",
    "Run the tests before you push.",
]
PIECES = st.lists(
    st.sampled_from(
        list("ab 가나주문결제서비스\n\t*_`[]()|#>-:.~<!&")
        + ["order", "payment", " calls ", "를 호출한다", "```", "\n\n", "| a | b |\n|---|---|\n"]
    ),
    max_size=80,
).map("".join)


def document(body: str) -> SourceText:
    return SourceText(DocumentRef("d", "d", "d.md", "1"), body, ".md", "d.md")


def claims(body: str):
    names = SourceText(DocumentRef("n", "n", "entities.yaml", "1"), NAMES, ".yaml", "entities.yaml")
    return [claim for _, _, claim in designed([names, document(body)], READERS).claims]


def relations(body: str) -> set[tuple[str, str, str]]:
    return {(c.source, c.relation, c.target) for c in claims(body)}


@settings(max_examples=120)
@given(st.lists(st.one_of(st.sampled_from(STATING + IDLE), PIECES), max_size=8))
def test_every_quote_stands_at_its_place(parts: list[str]) -> None:
    body = "\n\n".join(parts)
    for claim in claims(body):
        lines = body.split("\n")[claim.lines[0] - 1 : claim.lines[1]]
        last = lines[-1][: claim.columns[1]]
        text = "\n".join([*lines[:-1], last])[claim.columns[0] - 1 :]
        assert text == claim.quote


@settings(max_examples=60)
@given(st.permutations(STATING[:5] + IDLE))
def test_the_order_of_unrelated_paragraphs_changes_nothing(parts: list[str]) -> None:
    assert relations("\n\n".join(parts)) == relations("\n\n".join(STATING[:5]))


@settings(max_examples=40)
@given(st.lists(st.sampled_from(range(len(STATING))), min_size=1, unique=True), st.data())
def test_what_is_cut_from_the_text_is_no_longer_said(chosen: list[int], data: st.DataObject) -> None:
    cut = data.draw(st.sampled_from(chosen))
    rest = [STATING[i] for i in chosen if i != cut]
    assert (
        relations("\n\n".join(rest)) == set().union(*(relations(part) for part in rest))
        if rest
        else relations("") == set()
    )


@settings(max_examples=100)
@given(PIECES)
def test_any_text_is_read_and_a_reading_survives_the_store(body: str) -> None:
    reading = read(document(body), READERS, lambda _path: None).reading
    assert from_json(Reading, to_json(reading)) == reading
    assert all(is_verbatim(body, entity.place) or not entity.place.quote for entity in reading.entities)
