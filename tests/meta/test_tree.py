"""The tree keeps its rules: file sizes, packages, no machine paths, plugins documented."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("nexus", "collector_receiver", "aggregator", "knowledge", "designed", "diff", "answer", "api")
MAX_LINES = 400


def tracked(pattern: str) -> list[Path]:
    """Files of the checkout; where there is no git (a source archive), all that match."""
    listed = subprocess.run(["git", "ls-files", "-z", pattern], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        return [path for path in ROOT.glob(f"**/{pattern}") if ".venv" not in path.parts]
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).exists()]


def test_no_file_over_the_limit() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in tracked("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert long == {}


def test_modules_are_small() -> None:
    sizes = sorted(
        len(path.read_text(encoding="utf-8").splitlines())
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.stat().st_size
    )
    assert sizes[len(sizes) * 9 // 10] < 320, "90 % of the modules should be short"


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_ours(package: str) -> None:
    """No other distribution brings a package of the same name (a classic of plain top-level packages)."""
    assert set(importlib.metadata.packages_distributions().get(package, [])) <= {"khala-nexus"}


def test_no_package_that_shadows_a_library() -> None:
    assert not (ROOT / "mcp").exists()
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_no_path_of_a_machine() -> None:
    pattern = re.compile(r"/(work|farm|root|home)/\w|[.]library/")
    found = []
    for path in tracked("*"):
        if (
            path.suffix in {".pb", ".png", ".lock", ".svg"}
            or path.is_relative_to(ROOT / "tests" / "cases")
            or path.is_symlink()
            or path.is_dir()
        ):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if pattern.search(line) and path.name != "test_tree.py":
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}")
    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) is None
    ]
    assert silent == []
