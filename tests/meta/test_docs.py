"""The reference is true: generated pages equal what the code says today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from nexus.settings import describe_settings

ROOT = Path(__file__).resolve().parents[2]


def generator() -> object:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["settings.md", "commands.md", "metrics.md"])
def test_reference_is_up_to_date(page: str) -> None:
    made = generator().PAGES[page]()  # type: ignore[attr-defined]
    assert (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8") == made, "run `make docs`"


def test_every_setting_is_described() -> None:
    assert [name for name, _, description in describe_settings() if not description] == []
