"""From plain values of a deployment to the diff's policy."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from diff.policy import Policy


def policy_from(values: dict[str, Any]) -> Policy:
    """The policy with every value that it knows by name; others are ignored."""
    known = {field.name for field in fields(Policy)}
    return Policy(**{name: value for name, value in values.items() if name in known})
