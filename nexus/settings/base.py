"""Shared parts of settings sections."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

_SECONDS = re.compile(r"\d+(\.\d+)?")


class Section(BaseModel):
    """A group of settings. Frozen; an unknown name is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _seconds(value: object) -> object:
    if isinstance(value, str) and _SECONDS.fullmatch(value):
        return timedelta(seconds=float(value))
    return value


# ISO 8601 ("PT15M") or a number of seconds.
Duration = Annotated[timedelta, BeforeValidator(_seconds)]


def host_port(value: str) -> tuple[str, int]:
    """`HOST:PORT` (also `[::1]:PORT`) to its parts; ValueError names what is wrong."""
    host, sep, port = value.rpartition(":")
    if not sep or not port.isdigit() or int(port) > 65535:
        msg = f"{value!r} is not HOST:PORT"
        raise ValueError(msg)
    return host.strip("[]") or "127.0.0.1", int(port)


def at_port(address: str, port: int) -> str:
    """The address with the port that a listener got."""
    return f"{address.rpartition(':')[0]}:{port}"


def _address(value: object) -> object:
    if isinstance(value, str):
        host_port(value)
    return value


# `HOST:PORT`; port 0 = any free one.
Address = Annotated[str, BeforeValidator(_address)]
