"""Composing the knowledge component from the settings: what several providers, roles and commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from knowledge.classify import parse_rule
from knowledge.prepare import Options
from knowledge.run import Ingestor, Limits
from knowledge.texts._shape import TextReader
from knowledge.tokens import default_analyzer
from nexus.errors import ConfigError
from nexus.plugins import load_plugins
from nexus.wiring.runtime import Runtime


def upload_root(runtime: Runtime) -> Path:
    """Where uploads are kept."""
    return (runtime.settings.knowledge.upload_root or runtime.settings.data / "uploads").resolve()


def options(runtime: Runtime) -> Options:
    """How documents become passages. ConfigError names each path rule that is none."""
    settings = runtime.settings.knowledge
    problems: list[str] = []
    rules = []
    for text in settings.path_rules:
        try:
            rules.append(parse_rule(text))
        except ValueError as error:
            problems.append(f"NEXUS_KNOWLEDGE__PATH_RULES: {error}")
    if settings.passage_overlap >= settings.passage_size // 2:
        problems.append("NEXUS_KNOWLEDGE__PASSAGE_OVERLAP: must be less than half of NEXUS_KNOWLEDGE__PASSAGE_SIZE")
    if problems:
        raise ConfigError(problems)
    readers: dict[str, TextReader] = {}
    for reader in load_plugins("knowledge.texts", "READER").values():
        readers.update(dict.fromkeys(reader.suffixes, reader))
    detectors = tuple(load_plugins("knowledge.detectors", "DETECTOR").values())
    return Options(settings.passage_size, settings.passage_overlap, tuple(rules), readers, detectors, default_analyzer())


def ingestor(runtime: Runtime, extra_roots: Sequence[Path] = ()) -> Ingestor:
    """The ingestor. `extra_roots` are what a person at this machine named on the command line."""
    settings = runtime.settings
    roots = [*settings.docs.roots, *runtime.docs, upload_root(runtime), *extra_roots]
    limits = Limits(settings.knowledge.max_files, settings.knowledge.max_file_bytes, settings.knowledge.embed_wait.total_seconds())
    return Ingestor(runtime.database, runtime.clock, options(runtime), limits, roots, None)
