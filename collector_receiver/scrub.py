"""What is kept of a span's attributes: the names that edges need, and those a setting adds. The rest is dropped at the door."""

from __future__ import annotations

from typing import Final

from nexus.model.attributes import READ
from nexus.telemetry_spans import OWN

KEPT: Final = frozenset(READ)

# Resource attributes by column of the frame, newest name first.
RESOURCE_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "service_name": ("service.name",),
    "service_namespace": ("service.namespace",),
    "environment": ("deployment.environment.name", "deployment.environment"),
    "service_version": ("service.version",),
    "instance": ("service.instance.id", "k8s.pod.uid", "k8s.pod.name", "host.name"),
}
# Marks spans that Nexus made of itself: they are taken, and nothing of them is kept.
RESOURCE_KEPT: Final = frozenset(name for names in RESOURCE_NAMES.values() for name in names) | {OWN}
