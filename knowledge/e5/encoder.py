"""Texts to unit vectors: tokens, word embeddings, the graph, the mean over tokens."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.e5.graph import graph_file
from knowledge.e5.tokenizer import Tokenizer
from knowledge.e5.weights import Weights
from nexus.errors import ModelUnavailable

# Windows of one text; what comes later in a very long passage does not count.
MAX_WINDOWS = 4


class Encoder:
    """The model. `threads` passages run beside each other, each on one thread; a question runs on its caller's."""

    def __init__(self, weights_path: Path, folder: Path, threads: int) -> None:
        self._weights = Weights(weights_path)
        self._tokenizer = Tokenizer(self._weights.vocabulary)
        shape = self._weights.shape
        self._positions = self._weights.floats("emb.pos", shape.positions, shape.hidden) + self._weights.floats(
            "emb.type", shape.hidden
        )
        self._window = shape.positions - 2
        self.dimension = shape.hidden
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="embed")
        try:
            self._session = _session(graph_file(folder, self._weights))
        except Exception as error:  # the runtime raises its own kinds; the caller falls back to the wheel's engine
            raise ModelUnavailable(f"the bundled model cannot be converted: {type(error).__name__}: {error}") from error

    def encode(self, texts: Sequence[str], *, single: bool = False) -> NDArray[np.float32]:
        """(len(texts), dimension), unit length. Longer texts than the model takes are read in windows, weighted by their tokens."""
        windows: list[tuple[int, list[int]]] = []
        for place, text in enumerate(texts):
            ids = self._tokenizer.ids(text)
            windows.extend(
                (place, ids[start : start + self._window])
                for start in range(0, max(len(ids), 1), self._window)[:MAX_WINDOWS]
            )
        out = np.zeros((len(texts), self.dimension), np.float32)
        # One window a run: padding costs more than a batch saves, and without padding no mask is needed.
        run = self._pool.map if len(windows) > 1 and not single else map
        for (place, ids), mean in zip(windows, run(self._mean, (ids for _, ids in windows)), strict=True):
            out[place] += mean * max(len(ids), 1)
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        unit: NDArray[np.float32] = out / np.maximum(norms, 1e-12)
        return unit

    def _mean(self, ids: list[int]) -> NDArray[np.float32]:
        vocabulary = self._weights.vocabulary
        row = np.array([vocabulary.begin, *ids, vocabulary.end], np.int64)
        embedded = self._weights.words(row) + self._positions[: len(row)]
        (hidden,) = self._session.run(None, {"embedded": embedded[None]})
        mean: NDArray[np.float32] = hidden[0].mean(axis=0)
        return mean

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=["SkipLayerNormFusion"]
    )
