"""How often each rule was right on labelled documents: (true + 1) / (found + 2), per rule.

Written by `make eval-designed -- --write` from the labelled corpora; a rule that is not in the table has not been
measured on at least one document and gets UNMEASURED. The table holds counts only.
"""

from __future__ import annotations

from typing import Final

# Laplace's estimate with nothing seen.
UNMEASURED: Final = 0.5

# Rule -> (claims found on labelled documents, of them true).
MEASURED: Final[dict[str, tuple[int, int]]] = {
    "asyncapi.v3.receive": (5, 5),
    "asyncapi.v3.send": (4, 4),
    "backstage.consumes": (2, 2),
    "backstage.depends_on": (1, 1),
    "compose.argument": (1, 1),
    "compose.depends_on.store": (27, 27),
    "compose.env": (51, 51),
    "env_block.address": (11, 10),
    "flow.arrow": (33, 33),
    "json_config.setting": (20, 20),
    "kubernetes.configmap": (11, 11),
    "kubernetes.env": (21, 21),
    "kubernetes.networkpolicy": (29, 29),
    "list.address": (12, 12),
    "list.role": (1, 1),
    "list_en.active": (1, 1),
    "list_en.noun": (2, 2),
    "list_en.part": (1, 1),
    "list_ko.active": (5, 5),
    "list_ko.implicit": (6, 6),
    "mermaid.flowchart": (58, 58),
    "plantuml.c4": (14, 14),
    "prose_en.active": (7, 6),
    "prose_en.implicit": (6, 6),
    "prose_en.noun": (10, 10),
    "prose_en.part": (3, 3),
    "prose_en.passive": (7, 7),
    "prose_en.pronoun": (2, 2),
    "prose_en.via": (2, 1),
    "prose_ko.active": (3, 3),
    "prose_ko.implicit": (3, 3),
    "prose_ko.noun": (1, 1),
    "structurizr.relationship": (18, 18),
    "table.address": (6, 6),
    "table.role": (7, 7),
    "table.route": (6, 6),
    "table_en.implicit": (17, 17),
    "table_en.noun": (1, 1),
    "table_en.part": (1, 1),
}


def confidence(rule: str) -> float:
    """Measured confidence of a rule."""
    found, true = MEASURED.get(rule, (0, 0))
    return round((true + 1) / (found + 2), 3)
