"""How fast one caller may ask: a token bucket a principal, so that a script that runs wild takes nothing from the others."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from api.problems import problem_response
from nexus.errors import TooManyRequests

# A bucket holds this many seconds of requests: a page or an agent asks for several things at once, and then for none.
BURST_S = 2.0


class RateLimit:
    """Refuses what a caller asks beyond `per_second`, with the time after which it may ask again. Behind the authentication, which says who asks."""

    def __init__(self, app: ASGIApp, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._per_second = per_second
        self._clock = clock
        # (tenant, name) -> (requests left, when that was so); as many as there are tokens.
        self._left: dict[tuple[str, str], tuple[float, float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless its caller asks too fast; what needs no principal is not limited."""
        caller = scope.get("nexus.principal")
        wait = self._wait((caller.tenant, caller.name)) if caller is not None else 0.0
        if wait > 0:
            error = TooManyRequests(
                f"more than {self._per_second:g} requests a second (NEXUS_HTTP__MAX_REQUESTS_PER_S)", retry_after=wait
            )
            await problem_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _wait(self, who: tuple[str, str]) -> float:
        """Seconds until this caller may ask, 0 where it may now, and then one request less is left to it."""
        now = self._clock()
        # Room for one request at least: a bucket of less never holds what a request costs, and refuses for ever.
        full = max(1.0, self._per_second * BURST_S)
        left, since = self._left.get(who, (full, now))
        left = min(full, left + (now - since) * self._per_second)
        if left < 1:
            return (1 - left) / self._per_second
        self._left[who] = (left - 1, now)
        return 0.0
