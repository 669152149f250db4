"""`nexus migrate`: bring the database up to date."""

from __future__ import annotations

import json

from nexus.cli.options import Data, Json, database_settings
from nexus.store.migrate import migrate
from nexus.wiring.process import beside_url


def COMMAND(data: Data = None, as_json: Json = False) -> None:  # noqa: N802  # the plugin constant of a command file
    """Apply what is missing, in order. Safe to run beside a service and from several machines at once."""
    ran = migrate(beside_url(database_settings(data)))
    if as_json:
        print(json.dumps({"applied": ran}))
    else:
        print("\n".join(f"applied {name}" for name in ran) or "up to date")
