"""Options that several commands share, and the way from options to settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

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
