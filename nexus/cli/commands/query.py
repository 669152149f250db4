"""`nexus query`: ask."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nexus.cli.options import Data, Json
from nexus.cli.reading import Clearance, Environment, Url, api


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    question: Annotated[list[str], typer.Argument(help="A question, Korean or English.")],
    top_k: Annotated[int, typer.Option(help="Passages to look at.", min=1, max=100)] = 10,
    namespace: Annotated[str | None, typer.Option(help="Only documents of this namespace.", show_default=False)] = None,
    environment: Environment = None,
    clearance: Clearance = None,
    url: Url = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Answer from documents and telemetry, with every citation checked. Exit 0 also where it abstains."""
    body = {
        "query": " ".join(question),
        "top_k": top_k,
        "namespace": namespace,
        "environment": environment,
        "clearance": clearance and clearance.upper(),
    }
    with api(url, data) as service:
        found = service.post("/search/answer", body)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    from nexus.cli.show import show_answer

    show_answer(found)
