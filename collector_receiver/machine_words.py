"""Eight bytes at a time, little endian, at any place of an array: what compiled code compares, hashes and copies by.

Places are in bytes whatever the array is of. Nothing is checked unless `NUMBA_BOUNDSCHECK` is set.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_BYTE: Final = ir.IntType(8)
_WORD: Final = ir.IntType(64)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    made = context.make_array(kind)(context, builder, array)
    if context.enable_boundscheck:
        size = builder.mul(builder.extract_value(made.shape, 0), made.itemsize)
        cgutils.do_boundscheck(context, builder, builder.add(at, ir.Constant(_WORD, 7)), size)
    place = builder.gep(builder.bitcast(made.data, _BYTE.as_pointer()), [at])
    return builder.bitcast(place, _WORD.as_pointer())


@intrinsic
def word(_typing: Any, _array: Any, _at: Any) -> Any:
    """`word(array, at)`: the eight bytes from a place on, as a number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *arguments), align=1)

    return types.uint64(_array, types.uint64), generate


@intrinsic
def put_word(_typing: Any, _array: Any, _at: Any, _value: Any) -> Any:
    """`put_word(array, at, value)`: write a number to the eight bytes from a place on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at, value = arguments
        builder.store(value, _pointer(context, builder, signature.args[0], array, at), align=1)
        return context.get_dummy_value()

    return types.void(_array, types.uint64, types.uint64), generate
