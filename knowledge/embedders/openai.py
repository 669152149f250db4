"""Any endpoint that speaks OpenAI's `POST /embeddings`: by default KURE-v1 (Korean, 1,024 dimensions), as vLLM, TEI or others serve it."""

from __future__ import annotations

from typing import Any, Final

from knowledge.embedders._shape import EmbedderConfig, EmbedderKind, HttpEmbedder
from nexus.errors import ConfigError

MODEL = "nlpai-lab/KURE-v1"


def _make(config: EmbedderConfig) -> HttpEmbedder:
    if not config.url:
        raise ConfigError(
            "NEXUS_KNOWLEDGE__EMBED_URL: the embedder `openai` needs the base URL of its endpoint, with /v1"
        )
    model = config.model or MODEL
    e5 = "e5" in model.lower() and "instruct" not in model.lower()
    return HttpEmbedder(
        config,
        model=model,
        dimension=config.dimension or 1024,
        form="e5" if e5 else "plain",
        prefixes=("passage: ", "query: ") if e5 else ("", ""),
        url=config.url,
        path="/embeddings",
        read=_read,
    )


def _read(body: Any) -> list[list[float]]:
    # The order is not promised; the index is, each once.
    rows = {item["index"]: item["embedding"] for item in body["data"]}
    return [rows[place] for place in range(len(body["data"]))]


EMBEDDER: Final[EmbedderKind] = EmbedderKind(_make)
