"""The loader: a folder is a list of plugins, one file each, one annotated constant each."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from nexus.errors import InvariantBroken


def load_plugins(package: str, constant: str) -> dict[str, Any]:
    """Import every public module of `package` and take `constant` from it.

    Returns module name -> value, sorted by name. A module without the constant is a bug (InvariantBroken): private
    helpers of a plugin folder begin with `_`.
    """
    parent = importlib.import_module(package)
    found: dict[str, Any] = {}
    for info in sorted(pkgutil.iter_modules(parent.__path__), key=lambda item: item.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package}.{info.name}")
        if not hasattr(module, constant):
            msg = f"{package}.{info.name} has no {constant}"
            raise InvariantBroken(msg)
        found[info.name] = getattr(module, constant)
    return found
