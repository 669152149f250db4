"""How long polars' allocator keeps pages that nothing uses: longer than from one batch to the next.

By itself it lets them go within half a second, and every batch asks for the same ones anew (ADR 0041). What is let go is given back at
once: pages that only might be taken away count as memory of the process until they are.
"""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "_RJEM_MALLOC_CONF"
KEEP_MS: Final = 20_000


def keep_pages() -> None:
    """For this process and those that it starts; before polars is imported, which reads it once. What the operator set stays."""
    os.environ.setdefault(VARIABLE, f"dirty_decay_ms:{KEEP_MS},muzzy_decay_ms:0")
