"""Reading the wheel's file: header, unigram vocabulary, normalisation map, tensors (float32, or 4-bit blocks of 32)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nexus.errors import ModelUnavailable

MAGIC = b"E5S1"
BLOCK = 32
BLOCK_BYTES = 18
_Q4 = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])


@dataclass(frozen=True, slots=True)
class Shape:
    """Hyper-parameters."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Pieces of the unigram model by id, with their scores, and what each code point is normalised to."""

    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    normal: dict[str, str]
    begin: int
    end: int
    pad: int
    unknown: int


class Weights:
    """The file, mapped into memory: only what is used is read."""

    def __init__(self, path: Path) -> None:
        try:
            self._data: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"the bundled model {path.name} cannot be read: {error}") from error
        if bytes(self._data[:4]) != MAGIC:
            raise ModelUnavailable(f"the bundled model {path.name} is of an unknown format")
        self._at = 8
        hidden, layers, heads, feed_forward, _, positions, _ = self._take("<7i")
        epsilon, _ = self._take("<fi")
        self.shape = Shape(hidden, layers, heads, feed_forward, positions, epsilon)
        self.vocabulary = self._vocabulary()
        self._tensors = self._directory()
        self._words = self._blocks("emb.word")

    def _take(self, form: str) -> tuple[Any, ...]:
        size = struct.calcsize(form)
        values = struct.unpack(form, bytes(self._data[self._at : self._at + size]))
        self._at += size
        return values

    def _array(self, dtype: str, count: int) -> NDArray[Any]:
        size = np.dtype(dtype).itemsize * count
        out = np.frombuffer(bytes(self._data[self._at : self._at + size]), dtype=dtype)
        self._at += size
        return out

    def _vocabulary(self) -> Vocabulary:
        count, begin, end, pad, unknown = self._take("<5i")
        (length,) = self._take("<Q")
        offsets = self._array("<u4", count + 1).tolist()
        scores = self._array("<f4", count)
        blob = bytes(self._data[self._at : self._at + length])
        self._at += length
        pieces = tuple(blob[low:high].decode("utf-8", "replace") for low, high in pairwise(offsets))
        entries, size = self._take("<iI")
        raw = bytes(self._data[self._at : self._at + size])
        self._at += size
        normal: dict[str, str] = {}
        at = 0
        for _ in range(entries):
            code, outputs = struct.unpack_from("<IB", raw, at)
            at += 5
            normal[chr(code)] = "".join(map(chr, struct.unpack_from(f"<{outputs}I", raw, at)))
            at += 4 * outputs
        return Vocabulary(pieces, scores, normal, begin, end, pad, unknown)

    def _directory(self) -> dict[str, tuple[int, int]]:
        (count,) = self._take("<i")
        out: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = self._take("<H")
            name = bytes(self._data[self._at : self._at + length]).decode()
            self._at += length
            _, elements, offset, _ = self._take("<BIQQ")
            out[name] = (offset, elements)
        return out

    def _place(self, name: str) -> int:
        if name not in self._tensors:
            raise ModelUnavailable(f"the bundled model has no tensor {name}")
        return self._tensors[name][0]

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """A float32 tensor."""
        at = self._place(name)
        size = int(np.prod(shape)) * 4
        return np.frombuffer(bytes(self._data[at : at + size]), dtype="<f4").reshape(shape)

    def _blocks(self, name: str) -> NDArray[Any]:
        at = self._place(name)
        rest = (len(self._data) - at) // BLOCK_BYTES * BLOCK_BYTES
        return self._data[at : at + rest].view(_Q4)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """A 4-bit matrix as float32 (rows, columns)."""
        return _dequantised(np.asarray(self._blocks(name)[: rows * columns // BLOCK]), columns)

    def words(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Word embeddings (len(ids), hidden), from the mapped file: the table alone would take 380 MB as floats."""
        per_row = self.shape.hidden // BLOCK
        places = (ids[:, None] * per_row + np.arange(per_row)).reshape(-1)
        return _dequantised(self._words[places], self.shape.hidden)


def _dequantised(blocks: NDArray[Any], columns: int) -> NDArray[np.float32]:
    nibbles = blocks["nibbles"]
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=1).astype(np.float32) - 8.0
    out: NDArray[np.float32] = (values * blocks["scale"].astype(np.float32)[:, None]).reshape(-1, columns)
    return out
