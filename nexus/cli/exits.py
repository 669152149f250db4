"""From errors to exit codes; 0, 1, 2 and 3 of `nexus diff` are in drift.md section 7."""

from __future__ import annotations

from nexus import errors

OK = 0
FAILED = 1
UNAVAILABLE = 2
UNDECIDED = 3
# sysexits.h: EX_TEMPFAIL, EX_CONFIG, EX_SOFTWARE.
IN_USE = 75
CONFIG = 78
BUG = 70

EXIT_CODES: dict[type[errors.NexusError], int] = {
    errors.ConfigError: CONFIG,
    errors.InUse: IN_USE,
    errors.MalformedSpans: FAILED,
    errors.MalformedDocument: FAILED,
    errors.BadQuestion: FAILED,
    errors.TooLarge: FAILED,
    errors.NotFound: FAILED,
    errors.Unauthenticated: FAILED,
    errors.Forbidden: FAILED,
    errors.Conflict: FAILED,
    errors.SourceUnavailable: UNAVAILABLE,
    errors.StoreUnavailable: UNAVAILABLE,
    errors.ModelUnavailable: UNAVAILABLE,
    errors.Overloaded: UNAVAILABLE,
    errors.TooManyRequests: UNAVAILABLE,
    errors.InvariantBroken: BUG,
}


def exit_code(error: errors.NexusError) -> int:
    """The code of the nearest class in the table."""
    for kind in type(error).__mro__:
        if kind in EXIT_CODES:
            return EXIT_CODES[kind]
    return BUG
