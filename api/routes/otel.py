"""`POST /otel/aggregate`: catch up with the span log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from api.context import Context, Ingester, Json
from api.routes._sources import source_json
from nexus.model.render import instant
from nexus.ports.coverage import CoverageReader
from nexus.ports.observed import AggregateControl

ROUTER = APIRouter(tags=["observed"])


class AggregateRequest(BaseModel):
    """Body of the request."""

    model_config = ConfigDict(extra="forbid")

    settle: bool = False


@ROUTER.post("/otel/aggregate")
def aggregate(context: Context, caller: Ingester, body: AggregateRequest | None = None) -> Json:
    """Roll up what is acknowledged; with `settle` wait until everything acknowledged so far is, and treat every pairing wait as over."""
    done = context.services.get(AggregateControl).aggregate(settle=body.settle if body else False)
    found: Json = _texts(done)
    # Of the caller's tenant only; with its state, so that "could not be read" never looks like "no calls".
    polled = context.services.get(CoverageReader).sources(caller.tenant)
    found["sources"] = [source for source in found["sources"] if source["name"] == "otlp"] + [
        source_json(source) for source in polled
    ]
    return found


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts(item) for item in value]
    return instant(value) if isinstance(value, datetime) else value
