"""The shape of an embedder's file, and what the two that speak HTTP share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import stamina

from nexus.errors import ConfigError, ModelUnavailable
from nexus.model.retry_after import retry_after
from nexus.ports.embedding import Embedder, Vectors

ATTEMPTS = 3
# The longest pause before passages are asked for again, whatever the endpoint states: as long as one request may take.
LONGEST_PAUSE_S = 30.0
# Somebody waits for a question's vector: where the endpoint asks for more than this, words alone answer at once.
QUESTION_PAUSE_S = 2.0
# Characters of a text that every model takes.
SHORTEST = 200


@dataclass(frozen=True, slots=True)
class EmbedderConfig:
    """Values of the settings. Empty or zero = the kind's default."""

    model: str = ""
    dimension: int = 0
    url: str = ""
    key: str = ""
    batch: int = 32
    timeout_s: float = 30.0
    threads: int = 1
    cache: Path = Path()


@dataclass(frozen=True, slots=True)
class EmbedderKind:
    """How to make an embedder. `make` raises ModelUnavailable or ConfigError where it cannot be."""

    make: Callable[[EmbedderConfig], Embedder]


class _Temporary(Exception):
    """An answer that another attempt may better; `pause_s` where it states when."""

    def __init__(self, why: str, pause_s: float | None) -> None:
        super().__init__(why)
        self.pause_s = pause_s


class _Refused(Exception):
    """An answer that the same texts get again: one of them is too long, or not to the model's liking."""


# Whether to ask again after an error, or after how many seconds.
Again = Callable[[Exception], bool | float]


def _passages_again(error: Exception) -> bool | float:
    """As late as the endpoint states, within the bound; 0 and nothing stated are the sender's own pause."""
    if isinstance(error, _Temporary):
        return min(error.pause_s, LONGEST_PAUSE_S) if error.pause_s else True
    return isinstance(error, httpx.TransportError)


def _question_again(error: Exception) -> bool | float:
    """The same, and not at all where that is later than anybody waits: earlier would only be refused again."""
    if isinstance(error, _Temporary) and error.pause_s is not None and error.pause_s > QUESTION_PAUSE_S:
        return False
    return _passages_again(error)


class HttpEmbedder:
    """An embedder behind an endpoint. `read` takes one list of numbers a text, in order, out of an answer."""

    def __init__(
        self,
        config: EmbedderConfig,
        *,
        model: str,
        dimension: int,
        form: str,
        prefixes: tuple[str, str],
        url: str,
        path: str,
        read: Callable[[Any], list[list[float]]],
    ) -> None:
        self.model = model
        self.dimension = dimension
        self.form = form
        self._passage_prefix, self._question_prefix = prefixes
        self._path = path
        self._read = read
        self._batch = config.batch
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"NEXUS_KNOWLEDGE__EMBED_URL: {url!r} is no http:// or https:// URL")
        headers = {"Authorization": f"Bearer {config.key}"} if config.key else {}
        self._client = httpx.Client(base_url=url.rstrip("/"), timeout=config.timeout_s, headers=headers)
        # Without the user and password that a URL may hold: this is what errors and logs name.
        self._place = f"{model} at {self._client.base_url.copy_with(userinfo=b'')}"

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), dimension), asked for in batches."""
        parts = [
            self._each([self._passage_prefix + text for text in texts[at : at + self._batch]], _passages_again)
            for at in range(0, len(texts), self._batch)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def question(self, text: str) -> Vectors:
        """(dimension,)."""
        vector: Vectors = self._each([self._question_prefix + text], _question_again)[0]
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _each(self, texts: list[str], again: Again) -> Vectors:
        """The vectors of texts of which some may be refused: a long one is read as far as the model takes it, and holds up no other."""
        try:
            return self._ask(texts, again)
        except _Refused as error:
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.concatenate([self._each(texts[:middle], again), self._each(texts[middle:], again)])
            if len(texts[0]) <= SHORTEST:
                raise self._unavailable(error) from error
            return self._each([texts[0][: max(SHORTEST, len(texts[0]) // 2)]], again)

    def _ask(self, texts: list[str], again: Again) -> Vectors:
        try:
            for attempt in stamina.retry_context(
                on=again, attempts=ATTEMPTS, timeout=None, wait_initial=0.2, wait_max=2.0
            ):
                with attempt:
                    body = self._post(texts)
        except (_Temporary, httpx.HTTPError) as error:
            raise self._unavailable(error) from error
        try:
            rows = np.array(self._read(body), np.float32)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise self._unavailable("an answer of another shape") from error
        if rows.shape != (len(texts), self.dimension):
            raise self._unavailable(f"vectors of shape {rows.shape}, expected {(len(texts), self.dimension)}")
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(rows).all() or not norms.all():
            raise self._unavailable("a vector without direction")
        unit: Vectors = rows / norms
        return unit

    def _post(self, texts: list[str]) -> Any:
        response = self._client.post(self._path, json={"model": self.model, "input": texts})
        if response.status_code in {408, 425, 429} or response.status_code >= 500:
            stated = retry_after(response.headers.get("retry-after"), datetime.now(UTC))
            raise _Temporary(f"HTTP {response.status_code}", stated)
        if response.status_code in {400, 413, 422}:
            raise _Refused(f"HTTP {response.status_code}")
        if not response.is_success:
            raise self._unavailable(f"HTTP {response.status_code}")
        try:
            return response.json()
        except ValueError as error:
            raise self._unavailable("no JSON") from error

    def _unavailable(self, why: object) -> ModelUnavailable:
        return ModelUnavailable(f"{self._place}: {why or type(why).__name__}")
