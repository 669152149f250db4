"""What routes, tools and pages stand on: services by their port, the caller, the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Protocol, TypeVar

from fastapi import Depends, Request

from nexus.errors import Forbidden, Unauthenticated
from nexus.model.principal import Capability, Principal
from nexus.store.pool import Database

T = TypeVar("T")


class Services(Protocol):
    """The composition root, as the surfaces see it."""

    @property
    def database(self) -> Database:
        """Connections."""
        ...

    def get(self, port: type[T]) -> T:
        """The implementation of a port."""
        ...


@dataclass(frozen=True, slots=True)
class ApiContext:
    """Values of the running process. `local_principal` is given to loopback requests where it is set (`nexus up`)."""

    services: Services
    now: Callable[[], datetime]
    find_principal: Callable[[str], Principal | None]
    local_principal: Principal | None
    max_body_bytes: int
    # Hosts under which this process may be addressed, for the check of Host and Origin of local requests.
    local_hosts: frozenset[str] = frozenset()
    # False until every role of the process has started.
    started: Callable[[], bool] = lambda: True
    # Of one caller; twice as many at once.
    max_requests_per_s: float = 500.0


def context(request: Request) -> ApiContext:
    """The context of the application that serves this request."""
    found: ApiContext = request.app.state.context
    return found


def principal(request: Request) -> Principal:
    """The caller. Unauthenticated without a valid token, except from this machine under `nexus up`."""
    # Set by the middleware (api/auth.py), so that no route can forget it.
    found: Principal | None = request.scope.get("nexus.principal")
    if found is None:
        raise Unauthenticated("a valid bearer token is needed: `nexus auth create`")
    return found


def require(capability: Capability) -> Callable[[Request], Principal]:
    """A dependency: the caller, who must hold `capability` (admin holds all)."""

    def check(request: Request) -> Principal:
        caller = principal(request)
        if not caller.capabilities & {capability, Capability.ADMIN}:
            raise Forbidden(f"the token of {caller.name} lacks the capability {capability.value}")
        return caller

    return check


Context = Annotated[ApiContext, Depends(context)]
Reader = Annotated[Principal, Depends(require(Capability.READ))]
Ingester = Annotated[Principal, Depends(require(Capability.INGEST))]
Manager = Annotated[Principal, Depends(require(Capability.MANAGE))]
Json = dict[str, Any]
