"""Options that several commands share, and the way from options to settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from nexus.errors import ConfigError
from nexus.settings import Settings, load_settings

Data = Annotated[
    Path | None, typer.Option("--data", help="Data folder (default .nexus; NEXUS_DATA).", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def settings_from(data: Path | None = None, **sections: dict[str, Any]) -> Settings:
    """Settings of the environment with the given options on top; options that are None change nothing."""
    overrides: dict[str, Any] = {
        name: kept for name, values in sections.items() if (kept := {k: v for k, v in values.items() if v is not None})
    }
    if data is not None:
        overrides["data"] = data
    return load_settings(overrides)


def service_url(data: Path | None, url: str | None = None) -> str:
    """URL of the service that a command asks; "" where it works on a database.

    What an option names comes first (`--url`, then `--data`), then the database of NEXUS_DATABASE__URL, then the service of NEXUS_API_URL, then the folder
    that there is without all of them.
    """
    if url is None and (data is not None or os.environ.get("NEXUS_DATABASE__URL")):
        return ""
    return url or os.environ.get("NEXUS_API_URL", "")


def database_settings(data: Path | None) -> Settings:
    """Settings for a command that works on a database and cannot ask a service. ConfigError where a service is meant."""
    if service_url(data):
        raise ConfigError(
            "this command works on a database and not through NEXUS_API_URL: name the data folder (--data) or the database (NEXUS_DATABASE__URL), or unset NEXUS_API_URL"
        )
    return settings_from(data)
