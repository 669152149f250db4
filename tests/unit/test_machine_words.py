"""Words of compiled code: at every place, of arrays of any kind."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from collector_receiver.machine_words import put_word, word


@numba.njit
def read(array: Any, at: int) -> Any:
    return word(array, np.uint64(at))


@numba.njit
def write(array: Any, at: int, value: int) -> None:
    put_word(array, np.uint64(at), np.uint64(value))


@pytest.mark.parametrize("kind", [np.uint8, np.uint32])
def test_a_word_is_the_eight_bytes_from_a_place_on(kind: Any) -> None:
    raw = bytes(range(200, 224))
    array = np.frombuffer(raw, kind)
    for at in range(len(raw) - 7):
        assert int(read(array, at)) == int.from_bytes(raw[at : at + 8], "little")


@pytest.mark.parametrize("at", [0, 3, 8])
def test_a_word_is_written_where_it_is_said_and_nowhere_else(at: int) -> None:
    array = np.zeros(16, np.uint8)
    write(array, at, 0x0807060504030201)
    assert array.tobytes() == bytes(at) + bytes(range(1, 9)) + bytes(8 - at)
