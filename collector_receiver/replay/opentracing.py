"""Meanings of OpenTracing's tags, which Jaeger and Zipkin clients sent before OpenTelemetry had names for them.

Added beside the tags, never over a name that is there (opentracing.io, semantic conventions 1.1; OpenTelemetry's compatibility table).
"""

from __future__ import annotations

import ipaddress
from typing import Any

# Old tag -> today's name.
_NAMES = {
    "db.instance": "db.namespace",
    "message_bus.destination": "messaging.destination.name",
    "peer.hostname": "server.address",
    "http.path": "url.path",
}


def meanings(tags: dict[str, Any]) -> dict[str, Any]:
    """Attributes that the tags imply."""
    out = {new: str(tags[old]) for old, new in _NAMES.items() if tags.get(old) and new not in tags}
    system = str(tags.get("db.type") or ("sql" if "sql.query" in tags else "")).lower()
    if system:
        # "sql" names a language: which database speaks it is not said.
        out["db.system.name"] = "other_sql" if system == "sql" else system
    for tag in ("peer.ipv4", "peer.ipv6"):
        if address := _address(tags.get(tag)):
            out.setdefault("network.peer.address", address)
    return {name: value for name, value in out.items() if name not in tags}


def _address(value: Any) -> str:
    """An address that some clients send as a number."""
    try:
        return str(ipaddress.ip_address(value)) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    except ValueError:
        return ""
