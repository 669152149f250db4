"""The C allocator, told to keep what it will need again in a moment.

A batch of spans is some megabytes that are allocated and freed hundreds of times a second. By default glibc gives such blocks back to the kernel each time, which
then clears new pages for the next batch: a quarter of the time that decoding takes.
"""

from __future__ import annotations

import ctypes
from typing import Final

# malloc.h
_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_THRESHOLD: Final = -3
KEEP_BYTES: Final = 64 * 1024 * 1024
# The largest that glibc takes.
MMAP_BYTES: Final = 32 * 1024 * 1024
PAD_BYTES: Final = 8 * 1024 * 1024


def keep_freed_memory() -> bool:
    """Set the thresholds for this process; False where the C library has none."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return all(
        mallopt(option, value) == 1
        for option, value in ((_M_TRIM_THRESHOLD, KEEP_BYTES), (_M_MMAP_THRESHOLD, MMAP_BYTES), (_M_TOP_PAD, PAD_BYTES))
    )
