"""Composing the knowledge component from the settings: what several providers, roles and commands share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from knowledge.classify import PathRule, parse_rule
from knowledge.code.index import CodeIndex
from knowledge.embedders._shape import EmbedderConfig
from knowledge.embedding import PassageEmbedding
from knowledge.prepare import Options
from knowledge.retrieval.expand import Expansion
from knowledge.retrieval.expand.correction import CorrectionFetch
from knowledge.retrieval.expand.pairs import PlanPairs
from knowledge.retrieval.expand.section import SectionFill
from knowledge.retrieval.search import HybridRetriever, SearchOptions
from knowledge.run import Ingestor, Limits
from knowledge.texts._shape import TextReader
from knowledge.tokens import default_analyzer
from nexus.errors import ConfigError
from nexus.plugins import load_plugins
from nexus.ports.embedding import Embedder
from nexus.wiring.runtime import Runtime


def upload_root(runtime: Runtime) -> Path:
    """Where uploads are kept."""
    return (runtime.settings.knowledge.upload_root or runtime.settings.data / "uploads").resolve()


def _path_rules(runtime: Runtime) -> tuple[list[PathRule], list[str]]:
    """The rules, and what is wrong with those that are none."""
    rules, problems = [], []
    for text in runtime.settings.knowledge.path_rules:
        try:
            rules.append(parse_rule(text))
        except ValueError as error:
            problems.append(f"NEXUS_KNOWLEDGE__PATH_RULES: {error}")
    return rules, problems


def code_index(runtime: Runtime) -> CodeIndex:
    """The index of the allowed code roots. ConfigError for a folder that is none."""
    settings = runtime.settings.answer
    rules, problems = _path_rules(runtime)
    problems += [f"NEXUS_ANSWER__CODE_ROOTS: {root} is no folder" for root in settings.code_roots if not root.is_dir()]
    if problems:
        raise ConfigError(problems)
    return CodeIndex(runtime.database, runtime.clock, settings.code_roots, settings.code_tenant, rules)


def options(runtime: Runtime) -> Options:
    """How documents become passages. ConfigError names each path rule that is none."""
    settings = runtime.settings.knowledge
    rules, problems = _path_rules(runtime)
    if settings.passage_overlap >= settings.passage_size // 2:
        problems.append("NEXUS_KNOWLEDGE__PASSAGE_OVERLAP: must be less than half of NEXUS_KNOWLEDGE__PASSAGE_SIZE")
    if problems:
        raise ConfigError(problems)
    readers: dict[str, TextReader] = {}
    for reader in load_plugins("knowledge.texts", "READER").values():
        readers.update(dict.fromkeys(reader.suffixes, reader))
    detectors = tuple(load_plugins("knowledge.detectors", "DETECTOR").values())
    return Options(
        settings.passage_size, settings.passage_overlap, tuple(rules), readers, detectors, default_analyzer()
    )


def ingestor(runtime: Runtime, extra_roots: Sequence[Path] = (), embed_wait_s: float | None = None) -> Ingestor:
    """The ingestor. `extra_roots` are what a person at this machine named on the command line."""
    settings = runtime.settings
    roots = [*settings.docs.roots, *runtime.docs, *settings.answer.code_roots, *extra_roots]
    limits = Limits(
        settings.knowledge.max_files,
        settings.knowledge.max_file_bytes,
        settings.knowledge.embed_wait.total_seconds() if embed_wait_s is None else embed_wait_s,
    )
    return Ingestor(
        runtime.database,
        runtime.clock,
        options(runtime),
        limits,
        roots,
        runtime.get(PassageEmbedding),
        uploads=upload_root(runtime),
    )


def model_cache(runtime: Runtime) -> Path:
    """Where the converted model is kept: the user's cache folder where it can be written, so that new data folders find it there."""
    configured = runtime.settings.knowledge.model_cache
    if configured is not None:
        return configured
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "khala-nexus"
    try:
        base.mkdir(parents=True, exist_ok=True)
        writable = os.access(base, os.W_OK)
    except OSError:
        writable = False
    return base if writable else runtime.settings.data / "models"


def embedding(runtime: Runtime) -> PassageEmbedding:
    """Vectors by the configured model, which is loaded when it is first needed."""
    settings = runtime.settings.knowledge

    def make() -> Embedder | None:
        if settings.embedder == "none":
            return None
        config = EmbedderConfig(
            settings.embed_model,
            settings.embed_dimension,
            settings.embed_url,
            settings.embed_key.get_secret_value() if settings.embed_key else "",
            settings.embed_batch,
            settings.embed_timeout.total_seconds(),
            settings.embed_threads or os.cpu_count() or 1,
            model_cache(runtime),
        )
        made: Embedder = load_plugins("knowledge.embedders", "EMBEDDER")[settings.embedder].make(config)
        return made

    return PassageEmbedding(
        runtime.database,
        runtime.clock,
        make,
        generation=settings.generation,
        cache=settings.cache_vectors,
        exact_below=settings.exact_below,
    )


def retriever(runtime: Runtime) -> HybridRetriever:
    """Search with the configured fusion and expansions."""
    settings = runtime.settings.knowledge
    search = SearchOptions(
        settings.candidates,
        settings.per_document,
        settings.fusion,
        settings.exact_below,
        settings.hnsw_ef_search,
        timedelta(days=settings.stale_after_days),
        tuple((kind, timedelta(days=days)) for kind, days in settings.stale_types.items()),
    )
    analyzer = default_analyzer()
    limit = settings.fetch_limit
    expansions: list[Expansion] = []
    if settings.section_fill:
        expansions.append(SectionFill(limit))
    if settings.correction_fetch:
        expansions.append(CorrectionFetch(analyzer, limit))
    if settings.plan_pairs:
        expansions.append(PlanPairs(analyzer, limit))
    return HybridRetriever(runtime.database, runtime.clock, analyzer, runtime.get(PassageEmbedding), search, expansions)
