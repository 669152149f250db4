"""Every route and every tool, as nobody, as a PUBLIC reader, as a foreign tenant and as a reader of one namespace: nothing of what they may not see shows.

The walk takes the routes from the application's own description and the tools from their folder, so that a new one is walked without being listed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client

from api.app import build_app
from api.mcp_server import build_server, inside
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.plugins import load_plugins
from nexus.ports.designed import DesignControl
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.ports.drift import DriftControl
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.store.principal import create_principal
from nexus.wiring.mcp import in_process
from nexus.wiring.runtime import Runtime

# Words that only documents above PUBLIC hold, by the level of the document.
INTERNAL = "quokkabroker"
RESTRICTED = "wombatvault"
ALIAS, OWNER = "echidnadesk", "team-bilby"
TEXTS = {
    "internal.md": f"# Orders\n\nThe checkout service calls the {INTERNAL} service to convert prices within 250 ms.\n",
    "entities.yaml": f"entities:\n  - name: checkout\n    kind: service\n    aliases: [{ALIAS}]\n    owner: {OWNER}\n",
    "restricted.md": f"---\nclassification: RESTRICTED\n---\n# Audit\n\nThe checkout service calls the {RESTRICTED} service to seal orders.\n",
}
OPEN = {"/healthz", "/readyz", "/session"}
# What the description leaves out, and may: itself, the door of the tools (walked below), pages and their assets, which hold no data.
UNDESCRIBED = {"/openapi.json", "/mcp", "/", "/static/{name}"}
# What a parameter of this name is given: values that would find something for those who may see it.
VALUES = {
    "entity": "checkout",
    "rid": "checkout",
    "from": "checkout",
    "to": INTERNAL,
    "query": f"why does checkout call {INTERNAL}?",
    "text": INTERNAL[:6],
    "concept": INTERNAL,
    "name": INTERNAL,
    "source": "checkout",
    "target": INTERNAL,
    "path": "architecture.md",
    "page": "index.html",
    "asset": "app.js",
    "fingerprint": "0" * 16,
    "action": "acknowledge",
    "step": "1h",
    "old": "internal.md",
    "new": "restricted.md",
    "old_ref": "internal.md",
    "new_ref": "restricted.md",
    "enum_name": "GradeType",
}


# The same requests about what exists nowhere: an answer must not tell the one from the other.
NOWHERE = {
    INTERNAL: "quaggaplanet",
    RESTRICTED: "possumcabin",
    INTERNAL[:6]: "quagga",
    "checkout": "chipmunk",
    "internal.md": "imagined.md",
    "restricted.md": "reinvented.md",
}
# What differs from one request to the next: times, durations, identifiers of requests.
_CHANGES = re.compile(r"\d+(?:[.,:TZ+-]\d*)*|[0-9a-f]{16,}")


def renamed(value: str) -> str:
    """A value with the names of what exists nowhere in it."""
    for there, nowhere in NOWHERE.items():
        value = value.replace(there, nowhere)
    return value


def alike(text: str) -> str:
    """An answer without the names that were asked for and without what changes."""
    for there, nowhere in NOWHERE.items():
        text = text.replace(there, "X").replace(nowhere, "X")
    return _CHANGES.sub("0", text)


class Walk:
    """An application over a filled database, and tokens."""

    values = VALUES
    # Identifiers of documents and passages above PUBLIC.
    rids: tuple[str, ...] = ()

    def __init__(self, runtime: Runtime) -> None:
        self.context = in_process(runtime)
        self.app = build_app(self.context)
        read = frozenset({Capability.READ})
        everything = frozenset({Capability.READ, Capability.INGEST, Capability.MANAGE})
        people = {
            "public": Principal("public", "default", Classification.PUBLIC, read),
            "public_manager": Principal("pm", "default", Classification.PUBLIC, everything),
            "foreign": Principal("foreign", "elsewhere", Classification.RESTRICTED, everything),
            "narrow": Principal("narrow", "default", Classification.RESTRICTED, everything, ("other",)),
            "internal": Principal("internal", "default", Classification.INTERNAL, read),
        }
        with runtime.database.connection() as connection:
            self.tokens = {name: create_principal(connection, principal) for name, principal in people.items()}

    def operations(self) -> list[tuple[str, str, dict[str, Any]]]:
        document = self.app.openapi()
        return [
            (method.upper(), path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        ]

    async def request(self, token: str | None, method: str, path: str, operation: dict[str, Any]) -> httpx.Response:
        url = re.sub(r"\{(\w+)(?::\w+)?\}", lambda m: str(self.values.get(m[1], INTERNAL)), path)
        query = {
            p["name"]: self.values[p["name"]]
            for p in operation.get("parameters", [])
            if p["in"] == "query" and p["name"] in self.values and "date" not in json.dumps(p.get("schema", {}))
        }
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        given: dict[str, Any] = {"params": query, "headers": headers}
        if "requestBody" in operation:
            given["json"] = self.body(operation)
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False, client=("203.0.113.9", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://nexus.example", timeout=60) as client:
            return await client.request(method, url, **given)

    def body(self, operation: dict[str, Any]) -> dict[str, Any]:
        content = operation["requestBody"]["content"]
        schema = content.get("application/json", {}).get("schema", {})
        options = [schema, *schema.get("anyOf", [])]
        reference = next((o["$ref"] for o in options if "$ref" in o), "")
        fields = (
            self.app.openapi()["components"]["schemas"].get(reference.rsplit("/", 1)[-1], {}).get("properties", {})
            if reference
            else {}
        )
        return {name: self.values[name] for name in fields if name in self.values and name not in {"from", "to"}}


def runtime_of(docs: Path, url: str) -> Runtime:
    settings = load_settings({"data": docs.parent / "data", "docs": {"roots": (docs,)}})
    return Runtime(settings, Database(url, size=4), docs=(docs,))


@pytest.fixture(scope="module")
def docs(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the documents, which the module's database has read."""
    docs = tmp_path_factory.mktemp("walk") / "docs"
    docs.mkdir()
    for name, text in TEXTS.items():
        (docs / name).write_text(text, encoding="utf-8")
    runtime = runtime_of(docs, module_database_url)
    assert runtime.get(DocumentControl).ingest(IngestRequest(docs))["failed"] == 0  # type: ignore[type-abstract]
    runtime.get(DesignControl).refresh("default")  # type: ignore[type-abstract]
    runtime.get(DriftControl).run("default", None, None, None)  # type: ignore[type-abstract]
    runtime.close()
    return docs


@pytest.fixture
def walk(docs: Path, module_database_url: str, copied: Callable[[str], str]) -> Iterator[Walk]:
    """On a copy, for some of the walkers may change what they see."""
    runtime = runtime_of(docs, copied(module_database_url))
    with runtime.database.connection() as connection:
        rids = connection.execute("SELECT rid FROM document UNION SELECT rid FROM passage").fetchall()
    walk = Walk(runtime)
    walk.rids = tuple(rid for (rid,) in rids)
    yield walk
    runtime.close()


def leaks(text: str, words: tuple[str, ...], sent: str = "") -> list[str]:
    """Words that show although the request did not say them itself."""
    flat = text.casefold()
    return [word for word in words if word in flat and word not in sent.casefold()]


# What a request repeats of itself (the question, a name that is not found) is no leak; these sentences stand only in the documents.
SENTENCES = ("convert prices", "250 ms", "seal orders", "# audit", "internal.md", "restricted.md", ALIAS, OWNER)


def test_every_route_refuses_nobody(walk: Walk) -> None:
    async def run() -> list[str]:
        wrong = []
        for method, path, operation in walk.operations():
            for token in (None, "nxs_invented"):
                response = await walk.request(token, method, path, operation)
                if path not in OPEN and response.status_code != 401:
                    wrong.append(f"{method} {path} {response.status_code}")
        return wrong

    assert anyio.run(run) == []


@pytest.mark.parametrize("who", ["public", "public_manager", "foreign", "narrow"])
def test_no_route_shows_what_is_not_theirs(walk: Walk, who: str) -> None:
    async def run() -> list[str]:
        found = []
        for method, path, operation in walk.operations():
            if path in OPEN:
                continue
            response = await walk.request(walk.tokens[who], method, path, operation)
            sent = str(response.request.url) + (response.request.content or b"").decode()
            said = leaks(response.text, (*SENTENCES, RESTRICTED, *walk.rids), sent)
            if said or response.status_code >= 500:
                found.append(
                    f"{method} {path} -> {response.status_code} {said} {response.text[:200] if response.status_code >= 500 else ''}"
                )
        return found

    assert anyio.run(run) == []


@pytest.mark.parametrize("who", ["public", "foreign", "narrow", "internal"])
def test_what_is_not_theirs_answers_like_what_is_not_there(walk: Walk, who: str) -> None:
    """Status, message, suggestions and shape: nothing tells that a name or a document exists; and what is counted is theirs."""

    async def run() -> list[str]:
        found = []
        for method, path, operation in walk.operations():
            if path in OPEN or method != "GET" and not path.startswith("/search"):
                continue
            walk.values = VALUES
            there = await walk.request(walk.tokens[who], method, path, operation)
            walk.values = {name: renamed(value) for name, value in VALUES.items()}
            nowhere = await walk.request(walk.tokens[who], method, path, operation)
            if (there.status_code, alike(there.text)) != (nowhere.status_code, alike(nowhere.text)):
                found.append(
                    f"{method} {path} {there.status_code} {alike(there.text)[:300]} | {nowhere.status_code} {alike(nowhere.text)[:300]}"
                )
            if path == "/status":
                counts = there.json()["documents"]
                assert (sum(counts["documents"].values()), counts["passages"]) == (
                    (2, 2) if who == "internal" else (0, 0)
                )
        return found

    # One who may see them is answered otherwise: the comparison is no empty one.
    assert bool(anyio.run(run)) == (who == "internal")


@pytest.mark.parametrize("who", ["public", "public_manager"])
def test_a_name_that_public_text_holds_shows_nothing_else_of_it(walk: Walk, docs: Path, who: str) -> None:
    """The same service is named in a PUBLIC document: aliases, owner and documents that others say of it stay theirs."""
    page = docs / "public" / "open.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("# Open\n\nThe web service calls the checkout service.\n", encoding="utf-8")
    walk.context.services.get(DocumentControl).ingest(IngestRequest(page))  # type: ignore[type-abstract]
    page.unlink()
    walk.context.services.get(DesignControl).refresh("default")  # type: ignore[type-abstract]

    async def run() -> list[str]:
        found, named = [], 0
        for method, path, operation in walk.operations():
            if path in OPEN:
                continue
            response = await walk.request(walk.tokens[who], method, path, operation)
            named += "web" in response.text
            sent = str(response.request.url) + (response.request.content or b"").decode()
            said = leaks(response.text, (*SENTENCES, RESTRICTED, *walk.rids), sent)
            found += [f"{method} {path} {said}"] if said else []
        assert named
        for name, (sent, answer) in (await called(walk, who, VALUES)).items():
            said = leaks(answer, (*SENTENCES, RESTRICTED, *walk.rids), sent)
            found += [f"{name} {said}"] if said else []
        return found

    assert anyio.run(run) == []


def test_the_walk_would_notice(walk: Walk) -> None:
    """For one who may see them the same requests do show the sentences: the walk is no empty one."""

    async def run() -> set[str]:
        seen: set[str] = set()
        for method, path, operation in walk.operations():
            if path in OPEN or method != "GET" and not path.startswith("/search"):
                continue
            response = await walk.request(walk.tokens["internal"], method, path, operation)
            if leaks(response.text, ("convert prices",)):
                seen.add(path)
            assert not leaks(response.text, ("seal orders", "restricted.md"), str(response.request.url)), path
        return seen

    assert {"/search", "/search/answer", "/search/answer/stream", "/why", "/graph/{entity}"} <= anyio.run(run)


async def called(walk: Walk, who: str, values: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Tool -> (what was given, what it said), for every tool there is."""
    out = {}
    async with Client(build_server(inside(walk.app, walk.tokens[who]))) as client:
        for tool in (await client.list_tools()).tools:
            given = {name: values[name] for name in tool.input_schema.get("properties", {}) if name in values}
            result = await client.call_tool(tool.name, given)
            said = "".join(getattr(block, "text", "") for block in result.content)
            out[tool.name] = json.dumps(given), f"{result.is_error} {json.dumps(result.structured_content)} {said}"
    assert set(out) == set(load_plugins("api.tools", "TOOL"))
    return out


@pytest.mark.parametrize("who", ["public", "public_manager", "foreign", "narrow"])
def test_no_tool_shows_what_is_not_theirs(walk: Walk, who: str) -> None:
    answers = anyio.run(called, walk, who, VALUES)
    found = {name: leaks(said, (*SENTENCES, RESTRICTED, *walk.rids), sent) for name, (sent, said) in answers.items()}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("who", ["public", "foreign", "narrow", "internal"])
def test_to_a_tool_what_is_not_theirs_is_what_is_not_there(walk: Walk, who: str) -> None:
    there = anyio.run(called, walk, who, VALUES)
    nowhere = anyio.run(called, walk, who, {name: renamed(value) for name, value in VALUES.items()})
    differ = [name for name in there if alike(there[name][1]) != alike(nowhere[name][1])]
    # One who may see them is answered otherwise: the comparison is no empty one.
    assert bool(differ) == (who == "internal"), {
        name: (there[name][1][:400], nowhere[name][1][:400]) for name in differ
    }


def test_a_new_route_that_forgets_to_filter_is_noticed(walk: Walk) -> None:
    """The walk finds what is added to the application; nothing has to be listed here."""

    async def forgetful() -> dict[str, str]:
        return {"text": TEXTS["restricted.md"]}

    walk.app.add_api_route("/forgetful", forgetful)
    walk.app.openapi_schema = None
    (operation,) = (found for found in walk.operations() if found[1] == "/forgetful")

    async def run() -> str:
        return (await walk.request(walk.tokens["public"], *operation)).text

    assert leaks(anyio.run(run), SENTENCES)


def paths(routes: Iterable[Any]) -> Iterator[str]:
    """Of every route, also of routers inside routers."""
    for route in routes:
        inner = getattr(route, "original_router", None)
        yield from paths(inner.routes) if inner is not None else (route.path.replace(":path}", "}"),)


def test_the_walk_knows_of_every_route(walk: Walk) -> None:
    described = {path for _, path, _ in walk.operations()}
    assert set(paths(walk.app.routes)) - described <= UNDESCRIBED
