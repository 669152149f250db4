"""How long polars' allocator keeps pages that nothing uses: longer than from one batch to the next.

By itself it gives them back within ten seconds, most of them at once, and every batch asks for the same ones anew: a sixth of the
CPU of rolling up went into empty pages (ADR 0041).
"""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "_RJEM_MALLOC_CONF"
KEEP_MS: Final = 60_000


def keep_pages() -> None:
    """For this process and those that it starts; before polars is imported, which reads it once. What the operator set stays."""
    os.environ.setdefault(VARIABLE, f"dirty_decay_ms:{KEEP_MS},muzzy_decay_ms:{KEEP_MS}")
