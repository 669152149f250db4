"""Eight bytes at a time, little endian, at any place of an array: what compiled code compares, hashes and copies by.

Places are in bytes whatever the array is of. Nothing is checked unless `NUMBA_BOUNDSCHECK` is set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

# Places are unsigned throughout: mixed with signed numbers they would become floats.
Place = np.uint64


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    made = context.make_array(kind)(context, builder, array)
    if context.enable_boundscheck:
        size = builder.mul(builder.extract_value(made.shape, 0), made.itemsize)
        last = builder.add(at, context.get_constant(types.uint64, 7))
        cgutils.do_boundscheck(context, builder, last, size)  # type: ignore[no-untyped-call]
    place = builder.gep(builder.bitcast(made.data, cgutils.voidptr_t), [at])
    return builder.bitcast(place, context.get_value_type(types.uint64).as_pointer())


def _word(_typing: Any, _array: Any, _at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *arguments), align=1)

    return types.uint64(_array, types.uint64), generate


def _put_word(_typing: Any, _array: Any, _at: Any, _value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at, value = arguments
        builder.store(value, _pointer(context, builder, signature.args[0], array, at), align=1)
        return context.get_dummy_value()

    return types.void(_array, types.uint64, types.uint64), generate


# The eight bytes from a place on, as a number.
word: Final = cast("Callable[[Any, Place], Place]", intrinsic(_word))
# Write a number to the eight bytes from a place on.
put_word: Final = cast("Callable[[Any, Place, Place], None]", intrinsic(_put_word))
