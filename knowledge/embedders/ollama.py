"""Ollama (`POST /api/embed`): by default nomic-embed-text, 768 dimensions, with its task prefixes."""

from __future__ import annotations

from typing import Any, Final

from knowledge.embedders._shape import EmbedderConfig, EmbedderKind, HttpEmbedder

MODEL = "nomic-embed-text"


def _make(config: EmbedderConfig) -> HttpEmbedder:
    model = config.model or MODEL
    nomic = model.split(":")[0].endswith(MODEL)
    return HttpEmbedder(
        config,
        model=model,
        dimension=config.dimension or 768,
        form="nomic" if nomic else "plain",
        prefixes=("search_document: ", "search_query: ") if nomic else ("", ""),
        url=config.url or "http://127.0.0.1:11434",
        path="/api/embed",
        read=_read,
    )


def _read(body: Any) -> list[list[float]]:
    rows: list[list[float]] = body["embeddings"]
    return rows


EMBEDDER: Final[EmbedderKind] = EmbedderKind(_make)
