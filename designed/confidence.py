"""How often each rule was right on labelled documents: (true + 1) / (found + 2), per rule.

Written by `make eval-designed -- --write` from the labelled corpora; a rule that is not in the table has not been
measured on at least one document and gets UNMEASURED. The table holds counts only.
"""

from __future__ import annotations

from typing import Final

# Laplace's estimate with nothing seen.
UNMEASURED: Final = 0.5

# Rule -> (claims found on labelled documents, of them true).
MEASURED: Final[dict[str, tuple[int, int]]] = {}


def confidence(rule: str) -> float:
    """Measured confidence of a rule."""
    found, true = MEASURED.get(rule, (0, 0))
    return round((true + 1) / (found + 2), 3)
