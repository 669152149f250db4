"""Text to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """A model. Vectors have unit length; those of passages and of questions compare by cosine. Thread-safe."""

    # Names the weights: vectors of two models never compare.
    model: str
    dimension: int
    # How a passage becomes the text that the model sees; a part of the generation.
    form: str

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), dimension). ModelUnavailable where the model does not answer, or answers with another dimension."""
        ...

    def question(self, text: str) -> Vectors:
        """(dimension,)."""
        ...
