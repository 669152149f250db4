"""Settings of the service that holds a data folder, for commands that work beside it.

A command would else compute with settings of its own: a report under another sampling policy, passages of another model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr

from nexus.errors import ConfigError
from nexus.settings import Settings, load_settings

SETTINGS_FILE: Final = "settings.json"


def keep_settings(settings: Settings) -> Path:
    """Write what is set (defaults and secrets left out) into the data folder, readable by its owner only."""
    kept = settings.data / SETTINGS_FILE
    kept.touch(mode=0o600)
    kept.write_text(
        json.dumps(
            _public(settings.model_dump(exclude_unset=True), settings.model_dump(mode="json", exclude_unset=True))
        ),
        encoding="utf-8",
    )
    return kept


def beside_settings(settings: Settings) -> Settings:
    """Those of the service on the same data folder, with what this process sets on top. ConfigError where they cannot be read."""
    kept = settings.data / SETTINGS_FILE
    try:
        found = json.loads(kept.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return settings
    except (OSError, ValueError) as error:
        msg = f"{kept}: the settings of the service that runs here cannot be read: {error}"
        raise ConfigError(msg) from error
    return load_settings(_over(found, settings.model_dump(exclude_unset=True)))


def _public(values: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """`shown`, the JSON form of `values`, without secrets."""
    return {
        name: _public(value, shown[name]) if isinstance(value, dict) else shown[name]
        for name, value in values.items()
        if not isinstance(value, SecretStr)
    }


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(below)
    for name, value in above.items():
        both[name] = _over(both[name], value) if isinstance(value, dict) and isinstance(both.get(name), dict) else value
    return both
