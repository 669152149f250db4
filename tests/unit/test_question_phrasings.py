"""Several hundred ways to ask, in both languages: the kind of each and the entities in their roles (`data/questions.tsv`: question, kind, subjects)."""

from __future__ import annotations

from pathlib import Path

import pytest

from answer.question import analyse
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.testing.shop import NOW, registry

REGISTRY = registry()
SHORT = {"DB": "postgresql/orders-db/orders", "TOPIC": "kafka/order.created"}
LINES = (Path(__file__).parent / "data" / "questions.tsv").read_text(encoding="utf-8").splitlines()
CASES = [tuple(line.split("\t")) for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize(("text", "kind", "subjects"), CASES, ids=[case[0] for case in CASES])
def test_kind_and_subjects(text: str, kind: str, subjects: str) -> None:
    found = analyse(text, REGISTRY, NOW)
    assert found.kind.value == kind
    if kind != "document":
        assert [entity.name for entity in found.subjects] == [
            SHORT.get(name, name) for name in subjects.split(",") if name
        ]
        assert found.unknown == ()


def test_no_question_is_answered_for_an_entity_that_it_does_not_name() -> None:
    """Without `fx` and `payment` in the registry, a question about them is about no other entity in their place."""
    without = Registry(
        tuple(Entity(e.rid, e.name, e.kind, e.aliases) for e in REGISTRY.entities if e.name not in {"fx", "payment"})
    )
    for text, _, subjects in CASES:
        wanted = {SHORT.get(name, name) for name in subjects.split(",") if name}
        named = {entity.name for entity in analyse(text, without, NOW).subjects}
        assert named <= wanted - {"fx", "payment"} or not wanted, text
