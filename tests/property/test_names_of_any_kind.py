"""Whatever spans and documents call a thing, its name takes nothing down: names are data that anybody sends."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from designed.entities import fold
from designed.pipeline import registries, spellings
from nexus.model.entity import Entity
from nexus.model.service import NodeKind

HOSTILE = (
    "=",
    "***",
    "<!channel>",
    "[/]",
    "\x1b[31m",
    "a\nb",
    ".",
    "-",
    "s",
    "'s",
    "(",
    "…",
    "🙂",
    "이",
    "/",
    "kafka/",
    "//",
    "\u202e",
)
NAMES = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(NAMES, st.sampled_from(list(NodeKind))), min_size=1, max_size=5))
def test_a_registry_of_any_names_can_be_read_with(names: list[tuple[str, NodeKind]]) -> None:
    entities = fold([], [Entity(f"e{n}", name, kind.value) for n, (name, kind) in enumerate(names)])
    assert {entity.kind for entity in entities} <= {kind.value for _, kind in names}
    for registry in registries(entities, ["default"]).values():
        assert spellings(registry) is not None
        for entity in entities:
            assert registry.resolve(entity.name, entity.kind).entity in (None, *entities)
