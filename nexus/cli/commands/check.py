"""`nexus check`: the effective configuration."""

from __future__ import annotations

import json

from nexus.cli.options import Data, Json, settings_from
from nexus.settings.load import effective


def COMMAND(data: Data = None, as_json: Json = False) -> None:  # noqa: N802  # the plugin constant of a command file
    """Print every setting as it is in force, secrets masked; exit 78 and every problem where it cannot work."""
    values = effective(settings_from(data))
    if as_json:
        print(json.dumps(values, indent=2))
    else:
        for name, value in values.items():
            print(f"{name}={value}")
