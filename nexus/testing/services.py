"""An application over doubles: principals by token, services by port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from answer.graphs import GraphService
from api.context import ApiContext
from nexus.errors import InvariantBroken
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.ports.answers import Answerer, GraphReader
from nexus.ports.code import CodeReader
from nexus.ports.designed import DesignedReader
from nexus.ports.drift import DriftFigures, DriftReader
from nexus.ports.observed import ObservedReader
from nexus.ports.search import Retriever
from nexus.testing.answering import ports, service
from nexus.testing.readers import NoCode
from nexus.testing.shop import NOW, TENANT

T = TypeVar("T")
_READ = frozenset({Capability.READ})
PRINCIPALS = {
    "internal": Principal("internal", TENANT, Classification.INTERNAL, _READ),
    "public": Principal("public", TENANT, Classification.PUBLIC, _READ),
    "restricted": Principal("restricted", TENANT, Classification.RESTRICTED, _READ),
    "foreign": Principal("foreign", "other", Classification.RESTRICTED, _READ),
    "narrow": Principal("narrow", TENANT, Classification.INTERNAL, _READ, ("team-a",)),
    "ingester": Principal("ingester", TENANT, Classification.INTERNAL, frozenset({Capability.INGEST})),
}


class NoFigures:
    """No drift run to show."""

    def refresh(self) -> None:
        """Nothing to show."""

    def within_reach(self, *_: object) -> bool:
        """There is nothing to hide."""
        return True


class DoubleServices:
    """Services by port; `given` replaces some."""

    def __init__(self, given: Mapping[type, Any] | None = None) -> None:
        found = ports()
        self._made: dict[type, Any] = {
            Retriever: found.retriever,
            ObservedReader: found.observed,
            DesignedReader: found.designed,
            DriftReader: found.drift,
            Answerer: service(),
            GraphReader: GraphService(found),
            CodeReader: NoCode(),
            DriftFigures: NoFigures(),
            **(given or {}),
        }

    @property
    def database(self) -> Any:
        """There is none."""
        raise InvariantBroken("no database behind doubles")

    def get(self, port: type[T]) -> T:
        """The double of a port."""
        if port not in self._made:
            raise InvariantBroken(f"no provider for {port.__name__}")
        found: T = self._made[port]
        return found


def double_context(given: Mapping[type, Any] | None = None) -> ApiContext:
    """A context in which the token is the principal's name; nobody is local."""
    return ApiContext(
        services=DoubleServices(given),
        now=lambda: NOW,
        find_principal=PRINCIPALS.get,
        local_principal=None,
        max_body_bytes=1_000_000,
    )
