"""What all questions of a language have in common in the eyes of a model; a question that looks in another language goes without it. Pure.

The vectors of a multilingual model say in which language a text is, and that makes a Korean question rank those English passages first that
look most Korean. The mean of many questions of one language is what they share beside their subjects: taken away, the subject ranks.
Means belong to a model (`centres.json`), made of questions that no evaluation asks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np

from nexus.ports.embedding import Vectors


@cache
def centres(model: str, dimension: int) -> Mapping[str, Vectors]:
    """Language -> mean question; empty for a model of which nobody has made any."""
    found = json.loads(files("knowledge.retrieval").joinpath("centres.json").read_text(encoding="utf-8"))
    means = found["centres"].get(f"{model}/{dimension}", {})
    return {language: np.array(mean, np.float32) for language, mean in means.items()}


def towards(question: Vectors, asked_in: str, language: str, means: Mapping[str, Vectors]) -> Vectors:
    """The question as it ranks passages of `language`: as it is among those of its own, without its own language's mean among others."""
    if asked_in == language or asked_in not in means:
        return question
    rest: Vectors = question - means[asked_in]
    length = float(np.linalg.norm(rest))
    return rest / length if length else question
