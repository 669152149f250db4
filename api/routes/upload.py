"""`POST /upload`: documents as bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, UploadFile

from api.context import Context, Ingester
from api.problems import responses
from api.routes.ingest import admitted
from api.schemas_answer import Text
from nexus.errors import BadQuestion
from nexus.model.document import Classification
from nexus.ports.documents import IngestRequest
from nexus.ports.uploads import Uploads

ROUTER = APIRouter(tags=["documents"])

MAX_FILES = 100


@ROUTER.post("/upload", responses=responses(409))
def upload(
    caller: Ingester,
    context: Context,
    files: Annotated[list[UploadFile], File(description="One or several documents.")],
    namespace: Annotated[Text, Form(min_length=1, max_length=200)] = "default",
    classification: Annotated[Classification | None, Form()] = None,
) -> dict[str, Any]:
    """Keep documents under the upload root and ingest them. A name with `..`, an absolute one or one without a reader is refused before anything is stored."""
    admitted(caller, namespace, classification)
    if len(files) > MAX_FILES:
        raise BadQuestion(f"files: more than {MAX_FILES}")
    taken = [(file.filename or "", file.file.read()) for file in files]
    request = IngestRequest(Path(), tenant=caller.tenant, namespace=namespace, classification=classification)
    return context.services.get(Uploads).upload(taken, request)
