"""The error tree. One question matters about an error: will the same input fail again?

```
NexusError(code, retryable)
├── ConfigError                        exit 78, never retried, lists every problem at once
├── InputError       permanent         MalformedSpans  MalformedDocument  BadQuestion  TooLarge  NotFound  Forbidden  Unauthenticated  Conflict
├── DependencyError  retryable         SourceUnavailable  StoreUnavailable  ModelUnavailable  Overloaded(retry_after)  TooManyRequests(retry_after)
├── InUse                              exit 75, another process holds what this one needs
└── InvariantBroken                    a bug: 500, logged with the values
```

Each edge of the system has one table from these to its own codes (`api/problems.py`,
`collector_receiver/status.py`, `nexus/cli/exits.py`); a test checks that every leaf is in each.
"""

from __future__ import annotations

from collections.abc import Sequence


class NexusError(Exception):
    """Root. `code` is a stable slug for machines; the message is for people and says what to do next."""

    code: str = "nexus_error"
    retryable: bool = False


class ConfigError(NexusError):
    """The configuration cannot work. Carries every problem found, not just the first."""

    code = "config"

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("; ".join(self.problems))


class InUse(NexusError):
    """Another process holds the resource (a data folder, a lease). Exit 75: try again later."""

    code = "in_use"
    retryable = True


class InputError(NexusError):
    """The input is wrong; the same input will fail again."""

    code = "input"


class MalformedSpans(InputError):
    """An OTLP request that can never be accepted."""

    code = "malformed_spans"


class MalformedDocument(InputError):
    """A document that cannot be read at all. A partly readable one is not an error."""

    code = "malformed_document"


class BadQuestion(InputError):
    """A query or parameter that makes no sense; names the field."""

    code = "bad_question"


class TooLarge(InputError):
    """Over a named limit."""

    code = "too_large"


class NotFound(InputError):
    """No such thing, or none that this reader may see: the two are not told apart."""

    code = "not_found"


class Unauthenticated(InputError):
    """No valid bearer token."""

    code = "unauthenticated"


class Forbidden(InputError):
    """A valid token without the capability that this needs."""

    code = "forbidden"


class Conflict(InputError):
    """The request contradicts the present state (a supersession cycle, a stale revision)."""

    code = "conflict"


class DependencyError(NexusError):
    """Something outside failed; the same input may work later."""

    code = "dependency"
    retryable = True


class SourceUnavailable(DependencyError):
    """A span source or document source could not be read. Never "nothing there"."""

    code = "source_unavailable"


class StoreUnavailable(DependencyError):
    """PostgreSQL or the span log does not answer, or the disk is full."""

    code = "store_unavailable"


class ModelUnavailable(DependencyError):
    """An embedder or narrator does not answer."""

    code = "model_unavailable"


class Overloaded(DependencyError):
    """A named limit on work in flight is reached. `retry_after` is in seconds."""

    code = "overloaded"

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyRequests(Overloaded):
    """One caller asks faster than it may; others are served."""

    code = "too_many_requests"


class InvariantBroken(NexusError):
    """A bug in Nexus: what cannot happen, happened. Logged with the values."""

    code = "invariant_broken"
