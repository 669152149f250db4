"""Finding the spans that a batch cannot be rolled up with, so that one odd span stops nobody but itself. Pure.

What is foreseen (PostgreSQL is away, the disk is full) is waited for. Everything else will happen again with the same spans: the batch is halved, and the
halves that fail are halved, down to single spans. Where spans fail only beside one another, they are tried beside all that has worked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from polars.exceptions import PanicException

from nexus.errors import DependencyError, InUse

Rows = npt.NDArray[np.uint32]
# Trials of one batch; then what is left goes aside in the pieces that it is in.
MAX_TRIALS: Final = 1_000
# Odd spans are few. Where more of a batch fail than this, or one in ten, it is not they that are at fault: then nothing is set aside, and the log keeps them.
MAX_ODD: Final = 1_000
_FORESEEN: Final = (DependencyError, InUse, OSError, MemoryError)


@dataclass(frozen=True, slots=True)
class Parted:
    """Rows that work together, and those that do not, by reason."""

    good: Rows
    bad: dict[str, Rows]

    @property
    def few(self) -> bool:
        """Whether what does not work may be set aside."""
        odd = sum(map(len, self.bad.values()))
        return odd <= max(MAX_ODD, (len(self.good) + odd) // 10)


def unforeseen(error: BaseException) -> bool:
    """Whether an error lies with what was read, not with what is away or full."""
    return isinstance(error, (Exception, PanicException)) and not isinstance(error, _FORESEEN)


def reason_of(error: BaseException) -> str:
    """What an error says, in one line, with where it was raised."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno} {code.co_name}"
        trace = trace.tb_next
    return f"{type(error).__name__} in {place}: {' '.join(str(error).split())}"


def tried(attempt: Callable[[Rows], object]) -> Callable[[Rows], str | None]:
    """`attempt` as `parted` takes it. What is foreseen is raised."""

    def works(rows: Rows) -> str | None:
        try:
            attempt(rows)
        except BaseException as error:
            if not unforeseen(error):
                raise
            return reason_of(error)
        return None

    return works


def parted(rows: Rows, works: Callable[[Rows], str | None]) -> Parted | None:
    """Part `rows` (those likely to belong together beside one another) by `works`: None, or why a selection does not work.

    None where it is not spans that are at fault: without any it fails as well, or most of them fail.
    """
    if works(rows[:0]) is not None:
        return None
    found = _parted(rows, works)
    return found if found.few else None


def _parted(rows: Rows, works: Callable[[Rows], str | None]) -> Parted:
    bad: dict[str, Rows] = {}
    good = _halved(rows, works, bad, beside=False)
    if len(good) and works(good) is not None:
        good = _halved(good, works, bad, beside=True)
    return Parted(good, bad)


def _halved(rows: Rows, works: Callable[[Rows], str | None], bad: dict[str, Rows], *, beside: bool) -> Rows:
    """Those that work; the others are added to `bad`."""
    good, left, trials = rows[:0], deque([rows]), 0
    while left:
        # The largest first, so that what is left when there are no more trials is small.
        part = left.popleft()
        why = works(np.concatenate([good, part]) if beside else part)
        trials += 1
        if why is None:
            good = np.concatenate([good, part])
        elif len(part) <= 1 or trials >= MAX_TRIALS:
            bad[why] = np.concatenate([bad.get(why, part[:0]), part])
        else:
            left += [part[: len(part) // 2], part[len(part) // 2 :]]
    return good


__all__ = ["Parted", "parted", "reason_of", "tried", "unforeseen"]
