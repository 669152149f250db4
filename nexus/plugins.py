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
    return {name: load_plugin(package, name, constant) for name in plugin_names(package)}


def plugin_names(package: str) -> list[str]:
    """The plugins of a package, sorted, without importing them."""
    parent = importlib.import_module(package)
    return sorted(info.name for info in pkgutil.iter_modules(parent.__path__) if not info.name.startswith("_"))


def load_plugin(package: str, name: str, constant: str) -> Any:
    """One plugin."""
    module = importlib.import_module(f"{package}.{name}")
    if not hasattr(module, constant):
        msg = f"{package}.{name} has no {constant}"
        raise InvariantBroken(msg)
    return getattr(module, constant)
