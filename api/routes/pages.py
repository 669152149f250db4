"""`/` and `/static/`: the pages. They hold no data; all of it comes from the API with the reader's rights."""

from __future__ import annotations

import mimetypes
from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import Response

from nexus.errors import NotFound

ROUTER = APIRouter(include_in_schema=False)

# Nothing from elsewhere, no inline script: what documents and spans say can never run.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def _file(name: str) -> Response:
    folder = files("api.web").joinpath("static")
    found = folder.joinpath(name)
    # One flat folder: a name with a separator is none of ours.
    if "/" in name or "\\" in name or name.startswith(".") or not found.is_file():
        raise NotFound(f"no file {name}")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(found.read_bytes(), media_type="text/javascript" if name.endswith(".js") else kind, headers=HEADERS)


@ROUTER.get("/")
def index() -> Response:
    """The pages, one document; the address behind `#` says which."""
    return _file("index.html")


@ROUTER.get("/static/{name}")
def static(name: str) -> Response:
    """Style, scripts and pictures of the pages."""
    return _file(name)
