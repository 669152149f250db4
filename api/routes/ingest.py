"""`POST /ingest`: documents in, under an allowed root."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from api.context import Context, Ingester
from api.problems import responses
from api.schemas_answer import Text
from nexus.errors import Forbidden
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.ports.documents import DocumentControl, IngestRequest

ROUTER = APIRouter(tags=["documents"])

Namespace = Annotated[Text, Field(min_length=1, max_length=200)]


class IngestBody(BaseModel):
    """What to ingest."""

    model_config = ConfigDict(extra="forbid")

    path: Text = Field(min_length=1, max_length=4096, description="A file or folder under an allowed root.")
    namespace: Namespace = "default"
    metadata: dict[str, Any] = Field(default_factory=dict, max_length=100)
    force: bool = Field(default=False, description="Index anew what is unchanged.")
    glob: list[Text] = Field(default_factory=list, max_length=50)
    classification: Classification | None = Field(
        default=None, description="The level to begin from; PUBLIC only by who may manage."
    )


def admitted(caller: Principal, namespace: str, classification: Classification | None) -> None:
    """Forbidden where the caller may not write into the namespace, or not lower the level."""
    if caller.namespaces and namespace not in caller.namespaces:
        raise Forbidden(f"the token of {caller.name} may not write into the namespace {namespace}")
    if classification is Classification.PUBLIC and not caller.capabilities & {Capability.MANAGE, Capability.ADMIN}:
        raise Forbidden("classification PUBLIC needs the capability manage")


@ROUTER.post("/ingest", responses=responses(404, 409))
def ingest(body: IngestBody, caller: Ingester, context: Context) -> dict[str, Any]:
    """Ingest a file or folder; unchanged documents are skipped, deleted ones removed. Errors of single documents are in `errors`."""
    admitted(caller, body.namespace, body.classification)
    request = IngestRequest(
        Path(body.path),
        tenant=caller.tenant,
        namespace=body.namespace,
        globs=tuple(body.glob),
        classification=body.classification,
        metadata=body.metadata,
        force=body.force,
    )
    return context.services.get(DocumentControl).ingest(request)
