"""`/session`: a browser's way to use a token. The cookie holds the token, is HttpOnly and goes to this site only."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from api.auth import COOKIE
from api.context import Context, Reader
from nexus.errors import Unauthenticated

ROUTER = APIRouter(tags=["session"])


class SignIn(BaseModel):
    """A token from `nexus auth create`."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(min_length=1, max_length=512)


@ROUTER.post("/session", status_code=204)
def sign_in(body: SignIn, request: Request, context: Context) -> Response:
    """Check the token and keep it in a cookie of this browser session."""
    if context.find_principal(body.token) is None:
        raise Unauthenticated("the token is unknown or revoked")
    response = Response(status_code=204)
    response.set_cookie(
        COOKIE, body.token, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/"
    )
    return response


@ROUTER.get("/session")
def who_am_i(reader: Reader) -> dict[str, object]:
    """The caller, as the server sees it."""
    return {
        "name": reader.name,
        "tenant": reader.tenant,
        "clearance": reader.clearance.value,
        "capabilities": sorted(c.value for c in reader.capabilities),
        "namespaces": list(reader.namespaces),
    }


@ROUTER.delete("/session", status_code=204)
def sign_out() -> Response:
    """Forget the token."""
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/")
    return response
