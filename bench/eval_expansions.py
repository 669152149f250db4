"""What each expansion adds, on `bench/data/expansions.json`: the passage that was wanted is there without it, and with it; and what is added where nothing should be.

Passages are cut at 300 characters, so that short documents have sections of several. `cap` is no expansion: without it all results may be of one document.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from labelled import labelled

from nexus.model.document import Classification
from nexus.ports.search import Hit, Retriever, SearchRequest

DATA = Path(__file__).parent / "data" / "expansions.json"
SIZE, OVERLAP = 300, 0
TOP = (1, 3, 10)


def written(hits: list[Hit], text: str) -> bool:
    """Whether one of the passages has the text."""
    return any(text in hit.passage.text for hit in hits)


def outcomes(retriever: Retriever, case: dict, top_k: int) -> tuple[bool, bool, list[str]]:
    """(there without, there with, what was added by)."""
    request = SearchRequest(case["query"], "default", Classification.RESTRICTED, top_k=top_k)
    hits = retriever.search(request).hits
    ranked = [hit for hit in hits if not hit.added_by]
    by = [hit for hit in hits if hit.added_by == case["kind"]]
    if case["kind"] == "cap":
        free = SearchRequest(case["query"], "default", Classification.RESTRICTED, top_k=top_k, per_document=top_k)
        uncapped = [hit for hit in retriever.search(free).hits if not hit.added_by]
        return written(uncapped, case["text"]), written(ranked, case["text"]), []
    there = written(ranked, case["text"])
    return there, there or written(by, case["text"]), [hit.added_by for hit in hits if hit.added_by]


def report(retriever: Retriever, cases: list[dict]) -> None:
    """A table: kind, cases, and for each number of results how many have what was wanted without and with."""
    print(f"{'wanted passage is there':<26}{'cases':>6}" + "".join(f"   top {top:<2} without  with" for top in TOP))
    kinds = list(dict.fromkeys(case["kind"] for case in cases))
    added: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for kind in kinds:
        own = [case for case in cases if case["kind"] == kind]
        cells = []
        for top in TOP:
            found = [outcomes(retriever, case, top) for case in own]
            cells.append(f"{sum(row[0] for row in found):>17}{sum(row[1] for row in found):>6}")
            for _, _, by in found:
                for name in ("section", "correction", "pair"):
                    added[f"{name}, {'nothing wanted' if kind == 'none' else 'others wanted'}"][top] += (
                        [by.count(name)] if name != kind else []
                    )
        if kind != "none":
            print(f"{kind:<26}{len(own):>6}" + "".join(cells))
    print("passages added on average where that kind is not wanted")
    for name, counts in added.items():
        print(f"{name:<32}" + "".join(f"{sum(counts[top]) / max(len(counts[top]), 1):>23.1f}" for top in TOP))


def main() -> None:
    with labelled(DATA, knowledge={"passage_size": SIZE, "passage_overlap": OVERLAP}) as (data, runtime):
        report(runtime.get(Retriever), data["cases"])


if __name__ == "__main__":
    main()
