"""The span log."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import Field

from nexus.settings.base import Duration, Section


class LogSettings(Section):
    """Where acknowledged spans wait until they are rolled up."""

    backend: Literal["local"] = Field("local", description="`local`: segments under the data folder. There is no other yet.")
    max_bytes: int = Field(
        16 * 1024**3, ge=1024 * 1024, description="Largest size of the local log; at the limit receivers refuse with a retry time until spans are rolled up."
    )
    segment_bytes: int = Field(64 * 1024 * 1024, ge=64 * 1024, description="Size at which the local log begins a new file.")
    keep: Duration = Field(
        timedelta(hours=1), description="How long spans that are rolled up stay in the local log (for replays), while it is less than half full."
    )
    compression: Literal["lz4", "zstd", "none"] = Field("lz4", description="Compression of the local log: `none` costs three times the space and saves a tenth of the CPU.")
    max_pending_bytes: int = Field(128 * 1024 * 1024, ge=1024 * 1024, description="Bytes that may wait for one write to the log; above, receivers refuse.")
