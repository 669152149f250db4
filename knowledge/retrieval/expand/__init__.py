"""What is fetched beside the ranked passages: evidence, never rank. One kind a file, each with `fetch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from nexus.ports.search import Hit
from nexus.store.pool import Connection
from nexus.store.search import Reader


class Expansion(Protocol):
    """One way of adding evidence."""

    # As it stands in `Hit.added_by`.
    name: str

    def fetch(
        self, connection: Connection, reader: Reader, query: str, hits: Sequence[Hit], likely: Sequence[str]
    ) -> list[str]:
        """Identifiers of passages to add, best first. What the reader may not see is left out by the caller.

        `likely` are those that share words with the question, best first, far below the results.
        """
        ...
