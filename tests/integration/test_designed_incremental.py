"""Whatever order documents come, change, move and go in: what is stored is what a fresh read of them gives."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator

import pytest

from designed.pipeline import designed
from designed.rows import claim_row
from designed.run import Refresh
from designed.stored import StoredDesigned
from nexus.model.document import Classification, DocumentRef, SourceText
from nexus.plugins import load_plugins
from nexus.ports.designed import DesignedFilter
from nexus.ports.entities import EntityFilter
from nexus.store import entities as entity_store
from nexus.store.designed import live_claims
from nexus.store.pool import Database

READERS = load_plugins("designed.readers", "READER")
NAMES = ["ward", "bed", "billing", "pharmacy", "lab"]


def body(kind: str, rng: random.Random) -> str:
    a, b, c = rng.sample(NAMES, 3)
    if kind == "md":
        return rng.choice(
            [
                f"# Notes\n\nThe {a} service calls the {b} service. It does not call the {c} service.\n",
                f"# {a} service\n\nCalls the {b} service over gRPC.\n\n- publishes `{c}.moved`\n- stores visits in Redis\n",
                f"# Plan\n\n{a} 서비스는 {b} 서비스를 호출하고 `{c}.moved` 이벤트를 발행한다.\n",
                f"# Map\n\n```mermaid\nflowchart LR\n  {a}[{a} service] --> {b}[({b} db)]\n  {a} -->|{c}.moved| k[Kafka]\n```\n",
                f"| Service | Depends on |\n|---|---|\n| {a} | {b}, {c} cache |\n",
                f"`{a}-worker` consumes `{b}.moved`. The worker calls the {c} service. `{a.upper()}_URL` is a variable.\n",
                f"The collector of the {a} service is the {b} collector. The {c} gateway routes to the {a} service.\n",
                f"{a.upper()} Core calls the {b} service, and {b.upper()} Core calls the {c} service.\n",
                f"The {a} service publishes `{c}.moved` to Kafka, and the {b} service reads it from Kafka.\n",
                f"Then the worker calls the {c} service.\n",
                "# Nothing\n\nNo name stands here.\n",
            ]
        )
    if kind == "puml":
        return f"@startuml\n!include parts.iuml\ncomponent {a}\n{a} --> {b}\n@enduml\n"
    if kind == "iuml":
        return f"component {a}\ncomponent {c}\n{a} --> {c}\n"
    if kind == "compose":
        return f"services:\n  {a}:\n    environment:\n      {b.upper()}_URL: http://{b}:8080\n      KAFKA_ADDR: kafka:9092\n  {b}:\n    image: {c}\n  kafka:\n    image: apache/kafka\n"
    return (
        f"entities:\n  - {{name: {a}, aliases: [{a.upper()} Core, {c}-legacy]}}\n  - {{name: {b}-db, kind: database}}\n"
    )


KINDS = {
    "a.md": "md",
    "b.md": "md",
    "c.md": "md",
    "x/d.md": "md",
    "draw.puml": "puml",
    "parts.iuml": "iuml",
    "compose.yml": "compose",
    "x/compose.yml": "compose",
    "entities.yaml": "names",
}


class Folder:
    """Documents in memory; those below `x/` are another namespace's."""

    def __init__(self) -> None:
        self.texts_by_path: dict[str, str] = {}

    def _ref(self, path: str) -> DocumentRef:
        return DocumentRef(
            f"rid:{path}", path, f"file:///{path}", hashlib.sha256(self.texts_by_path[path].encode()).hexdigest()
        )

    def documents(self, tenant: str) -> list[DocumentRef]:
        return [self._ref(path) for path in self.texts_by_path]

    def texts(self, tenant: str, rids: list[str]) -> Iterator[SourceText]:
        for rid in rids:
            path = rid.removeprefix("rid:")
            level = Classification.RESTRICTED if path == "c.md" else Classification.INTERNAL
            yield SourceText(
                self._ref(path),
                self.texts_by_path[path],
                "." + path.rsplit(".", 1)[1],
                path.removeprefix("x/"),
                "x" if path.startswith("x/") else "default",
                tenant,
                level,
            )

    def passages(self, tenant: str, rids: list[str], clearance: Classification) -> list:
        return []


def stored(database: Database, tenant: str) -> tuple[list, list, list]:
    everything = DesignedFilter(tenant, Classification.RESTRICTED)
    with database.connection() as connection:
        entities = entity_store.list_entities(connection, EntityFilter(tenant, Classification.RESTRICTED))
        ambiguous = entity_store.list_ambiguous(connection, EntityFilter(tenant, Classification.RESTRICTED))
    return StoredDesigned(database).edges(everything), entities, ambiguous


# In 18 and 21 a document states which way a manifest uses its broker.
@pytest.mark.parametrize("seed", [*range(5), 18, 21])
def test_any_sequence_of_changes_ends_where_a_fresh_read_does(
    database: Database, clock, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    folder = Folder()
    folder.texts_by_path = {path: body(kind, rng) for path, kind in KINDS.items() if rng.random() < 0.7}
    control = Refresh(database, folder, READERS, clock, lambda _tenant: (), workers=1)
    for step in range(9):
        for _ in range(rng.randrange(1, 4)):
            path = rng.choice([*sorted(KINDS), "entities.yaml", "entities.yaml", "compose.yml"])
            action = rng.random()
            if action < 0.12:
                folder.texts_by_path.pop(path, None)
            elif action < 0.25 and path.endswith(".md") and path in folder.texts_by_path:
                moved = folder.texts_by_path.pop(path)
                folder.texts_by_path[rng.choice(["a.md", "b.md", "c.md", "x/d.md"])] = moved
            else:
                folder.texts_by_path[path] = body(KINDS[path], rng)
        # Documents one by one, against all of them at once.
        with monkeypatch.context() as small:
            small.setattr("designed.run.BATCH_BYTES", 1)
            small.setattr("designed.parts.PART", 1 + seed % 2)
            result = control.refresh("default")
        told = designed(folder.texts("default", [ref.rid for ref in folder.documents("default")]), READERS)
        with database.connection() as connection:
            live = live_claims(connection, "default", [ref.rid for ref in folder.documents("default")])
        assert live == {rid: claim_row(rid, edge, claim)["digest"] for rid, edge, claim in told.claims}, (seed, step)
        fresh = Refresh(database, folder, READERS, clock, lambda _tenant: (), workers=1).refresh(f"fresh{step}")
        assert stored(database, "default") == stored(database, f"fresh{step}"), (seed, step)
        assert (result["claims"], result["edges"], result["problems"]) == (
            fresh["claims"],
            fresh["edges"],
            fresh["problems"],
        )
