"""Precision and recall of the secret scanner, by kind, on the labelled set `bench/data/secrets.jsonl` (`{text, kinds}`; no kinds = a look-alike).

Every value there is made up; check digits are valid where a check digit is what is tested.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from knowledge.scanner import scan
from nexus.plugins import load_plugins

DATA = Path(__file__).parent / "data" / "secrets.jsonl"


def measure() -> tuple[dict[str, tuple[float, float, int]], list[str]]:
    """Kind -> (precision, recall, positives), `all` among them; and the mistakes in words."""
    detectors = load_plugins("knowledge.detectors", "DETECTOR")
    right, found, wanted, mistakes = Counter(), Counter(), Counter(), []
    for line in DATA.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        expected, actual = set(case["kinds"]), {secret.kind for secret in scan(case["text"], detectors)}
        for kind in expected | actual:
            wanted[kind] += kind in expected
            found[kind] += kind in actual
            right[kind] += kind in expected & actual
        if expected != actual:
            mistakes.append(f"expected {sorted(expected)}, found {sorted(actual)}: {case['text'][:80]!r}")
    table = {
        kind: (right[kind] / max(found[kind], 1), right[kind] / max(wanted[kind], 1), wanted[kind])
        for kind in sorted(wanted | found)
    }
    table["all"] = (right.total() / max(found.total(), 1), right.total() / max(wanted.total(), 1), wanted.total())
    return table, mistakes


def main() -> None:
    table, mistakes = measure()
    print(f"{'kind':<18}{'precision':>10}{'recall':>8}{'n':>5}")
    for kind, (precision, recall, count) in table.items():
        print(f"{kind:<18}{precision:>10.3f}{recall:>8.3f}{count:>5}")
    for mistake in mistakes:
        print(" ", mistake)


if __name__ == "__main__":
    main()
