"""Functions that are compiled to machine code when they are first called: where a column is too slow and an object a span is out of the question.

The compiled form is kept beside the source, else in the user's cache folder, so that a machine compiles once. What it was made of is told by the contents
of every file beside the function and here, for compiled functions call those of other files. They free the GIL, raise nothing and check no bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core.options import DefaultOptions

F = TypeVar("F", bound=Callable[..., Any])

FOLDER: Final = Path(__file__).parent
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
        _stamp(made, Path(function.__code__.co_filename).parent)
    except RuntimeError:  # no folder that the compiled form could be kept in
        made = numba.njit(**OPTIONS, **more)(function)
    return cast("F", made)


def _stamp(made: Any, folder: Path) -> None:
    """Compile again when any of those files is another: numba by itself looks at the function's own, and says nowhere that it may be told more."""
    file: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = _sources(folder) + _sources(FOLDER)  # noqa: SLF001  # see above


@cache
def _sources(folder: Path) -> tuple[tuple[str, str], ...]:
    """By contents and not by time: files that are copied or checked out again are the same."""
    return tuple((path.name, sha256(path.read_bytes()).hexdigest()) for path in sorted(folder.glob("*.py")))
