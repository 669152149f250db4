"""Pages of the allocator: set for whoever starts `nexus`, and never over what the operator set."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nexus.wiring.allocator import VARIABLE, keep_pages


def test_what_the_operator_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "dirty_decay_ms:5")
    keep_pages()
    assert os.environ[VARIABLE] == "dirty_decay_ms:5"


def test_it_is_set_before_polars_is_imported() -> None:
    code = (
        "import sys\n"
        "from nexus.cli import main\n"
        "assert 'polars' not in sys.modules\n"
        "sys.argv = ['nexus', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"import os; print(os.environ['{VARIABLE}'])"
    )
    env = {name: value for name, value in os.environ.items() if name != VARIABLE}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "dirty_decay_ms:20000,muzzy_decay_ms:0"
