"""Read settings from the environment: typos refused, all problems named at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from nexus.errors import ConfigError
from nexus.settings.aggregate import AggregateSettings, PairingSettings
from nexus.settings.answer import AnswerSettings
from nexus.settings.base import Section
from nexus.settings.designed import DesignedSettings
from nexus.settings.diff import DiffSettings
from nexus.settings.knowledge import KnowledgeSettings
from nexus.settings.log import LogSettings
from nexus.settings.otlp import OtlpSettings
from nexus.settings.sections import DatabaseSettings, DocsSettings, HttpSettings, TracingSettings
from nexus.settings.slack import SlackSettings
from nexus.settings.source_tempo import SourceTempoSettings
from nexus.settings.telemetry import TelemetrySettings

PREFIX = "NEXUS_"
# Read by clients and by processes around the service, not part of the service's own configuration.
CLIENT_VARIABLES = frozenset({"NEXUS_API_URL", "NEXUS_MCP_TOKEN"})


class _Environment(EnvSettingsSource):
    """The environment, where `NEXUS_LOG=kafka` is short for `NEXUS_LOG__BACKEND=kafka`."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """A section as JSON, or the word."""
        return (
            {"backend": value}
            if field_name == "log" and value in {"local", "kafka"}
            else super().decode_complex_value(field_name, field, value)
        )


class Settings(BaseSettings):
    """The whole configuration."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid", env_ignore_empty=True
    )

    data: Path = Field(Path(".nexus"), description="Folder of the embedded database, the span log and caches.")
    database: DatabaseSettings = DatabaseSettings()
    http: HttpSettings = HttpSettings()
    otlp: OtlpSettings = OtlpSettings()
    log: LogSettings = LogSettings()
    pairing: PairingSettings = PairingSettings()
    aggregate: AggregateSettings = AggregateSettings()
    source_tempo: SourceTempoSettings = SourceTempoSettings()
    docs: DocsSettings = DocsSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    designed: DesignedSettings = DesignedSettings()
    diff: DiffSettings = DiffSettings()
    answer: AnswerSettings = AnswerSettings()
    tracing: TracingSettings = TracingSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    slack: SlackSettings = SlackSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # the signature is pydantic-settings'
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Command-line options (init) win over the environment; nothing else is read."""
        return (init_settings, _Environment(settings_cls))


def _leaves(
    model: type[Section | Settings], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], FieldInfo, Any]]:
    for name, info in model.model_fields.items():
        annotation = info.annotation
        if isinstance(annotation, type) and issubclass(annotation, Section):
            yield from _leaves(annotation, (*path, name))
        else:
            yield (*path, name), info, info.get_default(call_default_factory=True)


def variable(path: tuple[str, ...]) -> str:
    """The environment variable of a setting."""
    return PREFIX + "__".join(path).upper()


def describe_settings() -> list[tuple[str, str, str]]:
    """(variable, default, description) of each setting, in order; the reference is made from this."""
    return [
        (variable(path), "" if default is None else str(default), info.description or "")
        for path, info, default in _leaves(Settings)
    ]


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """`NEXUS_*` names that no setting has. A section may also be given whole as JSON."""
    known = {variable(path[:n]) for path, _, _ in _leaves(Settings) for n in range(1, len(path) + 1)} | CLIENT_VARIABLES
    return sorted(name for name in environment if name.upper().startswith(PREFIX) and name.upper() not in known)


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """Settings from the environment and command-line `overrides` (nested mappings).

    Raises ConfigError with every problem at once: unknown names and bad values.
    """
    problems = [f"{name}: no such setting (see docs/reference/settings.md)" for name in unknown_variables(os.environ)]
    settings: Settings | None = None
    try:
        settings = Settings(**(overrides or {}))
    except ValidationError as error:
        for item in error.errors():
            path = tuple(str(part) for part in item["loc"])
            name = variable(path)
            if not any(problem.startswith(name + ":") for problem in problems):
                problems.append(f"{name}: {item['msg'].removeprefix('Value error, ')}")
    except ValueError as error:  # pydantic-settings: a section that is no JSON
        problems.append(str(error))
    if problems or settings is None:
        raise ConfigError(problems)
    return settings


def effective(settings: Settings) -> dict[str, str]:
    """Every setting as it is in force, secrets masked."""
    out: dict[str, str] = {}
    for path, _, _ in _leaves(Settings):
        value: Any = settings
        for part in path:
            value = getattr(value, part)
        out[variable(path)] = str(value) if not isinstance(value, SecretStr) else "**********"
    return out


__all__ = [
    "CLIENT_VARIABLES",
    "Settings",
    "describe_settings",
    "effective",
    "load_settings",
    "unknown_variables",
    "variable",
]
