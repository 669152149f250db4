"""Evidence fit on `bench/data/evidence.json`: thresholds that tell answerable from unanswerable questions.

`--fit` writes the thresholds and the mean question of each language to `knowledge/retrieval` (they belong to the model).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from labelled import labelled

from knowledge.embedding import PassageEmbedding
from knowledge.language import language_of
from knowledge.retrieval.fit import Threshold, is_weak, threshold
from knowledge.retrieval.terms import question_terms
from knowledge.tokens import default_analyzer
from nexus.model.document import Classification
from nexus.ports.embedding import Embedder
from nexus.ports.search import Retriever, SearchRequest
from nexus.store.keywords import bm25
from nexus.store.search import Reader
from nexus.wiring.runtime import Runtime

DATA = Path(__file__).parent / "data" / "evidence.json"
RETRIEVAL = Path(__file__).parents[1] / "knowledge" / "retrieval"
THRESHOLDS = RETRIEVAL / "fit_thresholds.json"
CENTRES = RETRIEVAL / "centres.json"


def magnitudes(runtime: Runtime, question: str) -> tuple[float, float]:
    """(best cosine, best BM25 score as a share of what would be ideal)."""
    found = runtime.get(Retriever).search(SearchRequest(question, "default", Classification.RESTRICTED))
    with runtime.database.connection() as connection:
        _, ideal = bm25(
            connection,
            Reader("default", Classification.RESTRICTED),
            question_terms(default_analyzer(), question),
            1,
        )
    return found.best_cosine or 0.0, (found.best_bm25 or 0.0) / ideal if ideal else 0.0


def write_centres(embedder: Embedder, name: str, questions: list[str]) -> None:
    """The mean question of each language, a line each, beside those of other models."""
    asked: dict[str, list[str]] = {}
    for question in questions:
        asked.setdefault(language_of(question), []).append(question)
    found = json.loads(CENTRES.read_text(encoding="utf-8"))["centres"] if CENTRES.exists() else {}
    found[name] = {
        language: np.mean([embedder.question(text) for text in texts], axis=0, dtype=np.float64).round(4).tolist()
        for language, texts in sorted(asked.items())
    }
    means = ",\n".join(
        f'"{model}": {{\n' + ",\n".join(f'"{language}": {mean}' for language, mean in of.items()) + "\n}"
        for model, of in sorted(found.items())
    )
    note = "Made by bench/eval_evidence.py --fit of the questions in bench/data/evidence.json."
    CENTRES.write_text(f'{{\n"note": "{note}",\n"centres": {{\n{means}\n}}\n}}\n', encoding="utf-8")


def write_thresholds(made: dict[str, Threshold]) -> None:
    """Beside those of other models."""
    found = json.loads(THRESHOLDS.read_text(encoding="utf-8"))["thresholds"]
    body = {
        "note": "Fitted by bench/eval_evidence.py --fit on bench/data/evidence.json.",
        "thresholds": found | {name: asdict(threshold) for name, threshold in made.items()},
    }
    THRESHOLDS.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")


def fitted(good: np.ndarray, bad: np.ndarray) -> Threshold:
    """The pair that best tells the two apart; of equals the lowest, so that little is called weak."""
    best, chosen = -1.0, Threshold(0.0, 0.0)
    for cosine in np.arange(0.75, 0.95, 0.0025):
        for share in np.arange(0.05, 0.6, 0.025):
            weak_good = ((good[:, 0] < cosine) & (good[:, 1] < share)).mean()
            weak_bad = ((bad[:, 0] < cosine) & (bad[:, 1] < share)).mean()
            # An answerable question called weak costs twice.
            value = weak_bad - 2 * weak_good
            if value > best + 1e-9:
                best, chosen = value, Threshold(round(float(cosine), 4), round(float(share), 3))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    with labelled(DATA) as (data, runtime):
        identity = runtime.get(PassageEmbedding).identity()
        good = np.array([magnitudes(runtime, question) for question in data["answerable"]])
        bad = np.array([magnitudes(runtime, question) for question in data["unanswerable"]])
        name = f"{identity.model}/{identity.dimension}"
        print(
            f"best cosine   answerable {good[:, 0].mean():.3f} (min {good[:, 0].min():.3f})   unanswerable {bad[:, 0].mean():.3f} (max {bad[:, 0].max():.3f})"
        )
        print(
            f"BM25 share    answerable {good[:, 1].mean():.3f} (min {good[:, 1].min():.3f})   unanswerable {bad[:, 1].mean():.3f} (max {bad[:, 1].max():.3f})"
        )
        # Odd questions fit, even ones test.
        chosen = fitted(good[::2], bad[::2])
        words = Threshold(
            0.0,
            fitted(
                np.c_[np.zeros(len(good[::2])), good[::2, 1]], np.c_[np.zeros(len(bad[::2])), bad[::2, 1]]
            ).bm25_share,
        )
        if arguments.fit:
            write_centres(runtime.get(PassageEmbedding).embedder(), name, data["answerable"] + data["unanswerable"])
            write_thresholds({"keywords": words, name: chosen})
        used = chosen if arguments.fit else threshold(identity.model, identity.dimension)
        for label, rows, limits in (
            ("all", (good, bad), used),
            ("held out", (good[1::2], bad[1::2]), used),
            # A model of which nobody has fitted any: words decide.
            ("no thresholds, all", (good, bad), None),
            ("no thresholds, held out", (good[1::2], bad[1::2]), None),
        ):
            weak = [np.mean([is_weak(cosine, share, 1.0, limits) for cosine, share in part]) for part in rows]
            print(f"{label:<24} weak on {weak[0]:.0%} of the answerable, {weak[1]:.0%} of the unanswerable; {limits}")


if __name__ == "__main__":
    main()
