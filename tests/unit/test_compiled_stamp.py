"""Compiled code is made anew when a file that it calls into is another, though its own is not."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from nexus.model import compiled

CALLER = """
import numpy as np
from nexus.model.compiled import compiled
from stamped_callee import step

@compiled
def walk(value: int) -> int:
    return step(value)
"""
CALLEE = """
from nexus.model.compiled import compiled

@compiled
def step(value: int) -> int:
    return value + {more}
"""


def fresh() -> Any:
    """The caller as a process that starts now would have it: loaded and stamped anew."""
    for name in ("stamped_caller", "stamped_callee"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    compiled._sources.cache_clear()
    return importlib.import_module("stamped_caller").walk


def test_a_change_in_what_is_called_is_compiled_into_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "stamped_caller.py").write_text(CALLER)
    (tmp_path / "stamped_callee.py").write_text(CALLEE.format(more=1))
    try:
        assert fresh()(1) == 2
        again = fresh()
        assert again(1) == 2
        assert again.stats.cache_hits
        os.utime(tmp_path / "stamped_callee.py", (0, 0))  # checked out again: the same text at another time
        again = fresh()
        assert again(1) == 2
        assert again.stats.cache_hits
        (tmp_path / "stamped_callee.py").write_text(CALLEE.format(more=10))
        assert fresh()(1) == 11
    finally:
        compiled._sources.cache_clear()
        for name in ("stamped_caller", "stamped_callee"):
            sys.modules.pop(name, None)
