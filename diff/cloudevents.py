"""Transitions as CloudEvents 1.0 (structured JSON), and their signature. Pure."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from typing import Any

from diff.lifecycle import Change
from diff.reports._json import finding_json
from nexus.model.finding import Finding
from nexus.model.render import instant

TYPE = "com.khala.nexus.drift.finding"
SIGNATURE_HEADER = "Nexus-Signature"


def event(change: Change, finding: Finding, *, run: str, tenant: str, environment: str, at: datetime) -> dict[str, Any]:
    """One event. `type` ends in the new state; `id` is stable, so that a repeated delivery can be told apart by its receiver."""
    identity = hashlib.sha256(
        f"{tenant}:{environment}:{run}:{change.fingerprint}:{change.after.value}".encode()
    ).hexdigest()[:32]
    return {
        "specversion": "1.0",
        "id": identity,
        "source": f"/diff/{tenant}" + (f"/{environment}" if environment else ""),
        "type": f"{TYPE}.{change.after.value}",
        "subject": change.fingerprint,
        "time": instant(at),
        "datacontenttype": "application/json",
        "data": {
            "fingerprint": change.fingerprint,
            "from": change.before.value if change.before else None,
            "to": change.after.value,
            "note": change.note,
            "run": run,
            "finding": finding_json(finding),
        },
    }


def sign(body: bytes, secret: str, at: datetime) -> str:
    """`t=SECONDS,v1=HEX`: HMAC-SHA256 over `SECONDS.body`, so that an old request cannot be sent again later."""
    seconds = str(int(at.timestamp()))
    return f"t={seconds},v1={hmac.new(secret.encode(), seconds.encode() + b'.' + body, hashlib.sha256).hexdigest()}"


def verify(header: str, body: bytes, secret: str, now: datetime, tolerance_s: int = 300) -> bool:
    """Whether a signature is ours and fresh: for receivers, and for the tests."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    try:
        seconds = int(parts.get("t", ""))
    except ValueError:
        return False
    wanted = hmac.new(secret.encode(), str(seconds).encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted, parts.get("v1", "")) and abs(now.timestamp() - seconds) <= tolerance_s
