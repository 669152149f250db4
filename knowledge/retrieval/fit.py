"""How well the best evidence fits the question. The thresholds belong to a generation and are fitted on labelled questions (`fit_data.json`). Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Threshold:
    """Below both is weak. `bm25_share` is the best score over the score that a passage full of every term would approach."""

    cosine: float
    bm25_share: float


@cache
def thresholds() -> dict[str, Threshold]:
    """Form of the model (`model/dimension`) -> its thresholds."""
    found = json.loads(files("knowledge.retrieval").joinpath("fit_thresholds.json").read_text(encoding="utf-8"))
    return {name: Threshold(**values) for name, values in found["thresholds"].items()}


def threshold(model: str, dimension: int) -> Threshold | None:
    """The thresholds of a model; None where nobody has fitted any: then keywords alone decide."""
    return thresholds().get(f"{model}/{dimension}")


def is_weak(cosine: float | None, bm25: float | None, ideal: float, fitted: Threshold | None) -> bool:
    """Whether both retrievers found little. What was not asked counts as little."""
    keywords = thresholds()["keywords"]
    share = (bm25 or 0.0) / ideal if ideal > 0 else 0.0
    if cosine is None or fitted is None:
        return share < keywords.bm25_share
    return cosine < fitted.cosine and share < fitted.bm25_share
