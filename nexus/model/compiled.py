"""Functions that are compiled to machine code when they are first called: where a column is too slow and an object a span is out of the question.

The compiled form is kept beside the source, else in the user's cache folder, so that a machine compiles once. What it was made of is told by the time and size
of the function's own file: compiled functions that call one another belong in one file. They free the GIL, raise nothing and check no bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba
from numba.core.options import DefaultOptions

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
if hasattr(DefaultOptions, "_nrt"):
    # Arrays are borrowed from the caller. Counting references to them, atomically and at every call, would take three times as long as the work.
    # An option of numba's own, which a release may drop: then it is only slower.
    OPTIONS["_nrt"] = False


def compiled(function: F) -> F:
    """Decorate a function of numbers and arrays that makes no arrays."""
    return _compile(function, {})


def inlined(function: F) -> F:
    """Likewise, to become a part of every function that calls it: for the few lines that run for every field."""
    return _compile(function, {"forceinline": True})


def _compile(function: F, more: dict[str, Any]) -> F:
    try:
        made = numba.njit(cache=True, **OPTIONS, **more)(function)
    except RuntimeError:  # no folder that the compiled form could be kept in
        made = numba.njit(**OPTIONS, **more)(function)
    return cast("F", made)
