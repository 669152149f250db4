"""The pages in a real browser: each page and main path, accessibility, phone width, hostile names. Screenshots go to `artifacts/pages/`."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import urllib.error
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from nexus_up import NEXUS, Up
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SHOTS = Path(os.environ.get("ARTIFACTS", ROOT / "artifacts")) / "pages"
HOSTILE = '<img src=x onerror="window.pwned=1">'

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.xdist_group("pages"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (Debian: apt-get install chromium)"),
]


def demo_load() -> Any:
    spec = importlib.util.spec_from_file_location("demo_load", ROOT / "examples" / "demo" / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["demo_load"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A service with the demo's shop, two days of orders, and a service and a document with hostile names."""
    docs = tmp_path_factory.mktemp("docs")
    for file in (ROOT / "examples" / "shop" / "docs").iterdir():
        shutil.copy(file, docs)
    (docs / "hostile.md").write_text(
        f"# {HOSTILE}\n\nThe checkout service calls `<script>window.pwned=1</script>`.\n\nwindow.pwned in {HOSTILE} must stay text.\n",
        encoding="utf-8",
    )
    service = Up(tmp_path_factory.mktemp("pages") / "data", docs=(docs,), environment={"NEXUS_DIFF__SAMPLING": "none"})
    service.start()
    load = demo_load()
    load.VERSIONS[HOSTILE] = "1.0"
    shop = load.Shop.connect(service.grpc, 1)
    with shop.span(HOSTILE, HOSTILE, load.SpanKind.SERVER, load.time.time_ns() - 5 * load.MINUTE) as step:
        load.call(shop, HOSTILE, "web", step, "GET", "/hostile", load.idle)
    # A client that does not say whom it calls: the status page says what to fix.
    with shop.span(HOSTILE, "nowhere", load.SpanKind.CLIENT, load.time.time_ns() - 4 * load.MINUTE):
        pass
    shop.close()
    load.send(service.grpc, 2, 48)
    service.post("/ingest", {"path": str(docs)})
    service.post("/otel/aggregate", {"settle": True})
    service.post("/diff/runs", {})
    yield service
    service.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(site: Up, browser: Any) -> Iterator[Page]:
    """A page that fails the test on any script error, outside request or sign of executed markup."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "console",
        lambda message: (
            troubles.append(message.text)
            if message.type == "error" and "the server responded with a status of" not in message.text
            else None
        ),
    )
    page.on(
        "request",
        lambda request: (
            troubles.append(f"outside: {request.url}")
            if not request.url.startswith((site.url, "data:", "blob:"))
            else None
        ),
    )
    yield page
    assert page.evaluate("window.pwned") is None
    context.close()
    assert troubles == []


@pytest.fixture
def sign_in(page: Page, site: Up) -> Callable[..., str]:
    """Makes a token, and the browser its holder."""

    def as_holder(clearance: str, capabilities: Sequence[str], namespace: str = "") -> str:
        options = ["--data", str(site.data), "--json", "--name", "somebody", "--clearance", clearance]
        options += [part for one in capabilities for part in ("--capability", one)]
        options += ["--namespace", namespace] if namespace else []
        made = subprocess.run([NEXUS, "auth", "create", *options], capture_output=True, text=True, check=True)
        token = str(json.loads(made.stdout)["token"])
        page.context.add_cookies([{"name": "nexus_token", "value": token, "url": site.url}])
        return token

    return as_holder


def visit(page: Page, site: Up, address: str, name: str) -> None:
    page.goto(f"{site.url}/#/{address}")
    expect(page.locator("#main .busy")).to_have_count(0, timeout=120_000)
    shoot(page, name)


def shoot(page: Page, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def test_the_map_tells_verdicts_apart_and_opens_an_edge(page: Page, site: Up) -> None:
    visit(page, site, "map", "map")
    expect(page.locator(".node")).not_to_have_count(0)
    for verdict in ("confirmed", "observed_only", "undecided"):
        expect(page.locator(f".canvas .edge.{verdict}").first).to_be_attached()
    edge = page.locator('.canvas .edge[aria-label^="checkout calls fx"]')
    edge.focus()
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    expect(panel.locator("h2")).to_have_text("checkout → fx")
    expect(panel).to_contain_text("POST /checkout")
    expect(panel).to_contain_text("The checkout service calls the fx service")
    shoot(page, "map-edge")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_the_map_focuses_filters_and_links_deep(page: Page, site: Up) -> None:
    visit(page, site, "map?focus=checkout", "map-focus")
    names = page.locator(".node").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    assert any(name.startswith("fx") for name in names)
    assert not any(name.startswith("catalog") for name in names)
    visit(page, site, "map?layer=drift", "map-drift")
    expect(page.locator(".canvas .edge.confirmed")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("button", name="Mermaid").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text.startswith("flowchart LR")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    assert "<svg" in Path(download.value.path()).read_text(encoding="utf-8")


def test_drift_counts_do_not_change_under_a_filter(page: Page, site: Up) -> None:
    visit(page, site, "drift", "drift")
    before = page.locator(".counter b").all_inner_texts()
    page.locator(".counter.conflict").click()
    expect(page.locator(".finding").first).to_contain_text("notification")
    expect(page.locator(".finding")).to_have_count(int(before[3]))
    assert page.locator(".counter b").all_inner_texts() == before
    page.locator(".finding .open").first.click()
    panel = page.locator("#panel")
    expect(panel).to_contain_text("over HTTP to send the order confirmation")
    panel.get_by_label("Reason").first.fill("known, being changed")
    panel.get_by_role("button", name="Acknowledge").click()
    expect(panel).to_contain_text("acknowledged")
    expect(panel.get_by_role("listitem").filter(has_text="known, being changed")).to_have_count(1)
    shoot(page, "drift-finding")


def test_an_answer_is_checked_and_its_citations_open(page: Page, site: Up) -> None:
    visit(page, site, "ask", "ask-empty")
    page.get_by_label("Question").fill("Why does checkout call fx?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer.verified")).to_contain_text("checkout calls fx", timeout=120_000)
    expect(page.get_by_text("Every citation and number was checked")).to_be_visible()
    page.locator("button.cite").first.click()
    expect(page.locator("#panel h2")).to_have_text("checkout → fx")
    shoot(page, "ask-answer")
    page.get_by_label("Question").fill("What is the airspeed of a swallow?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("heading", name="What is the airspeed of a swallow?")).to_be_visible()
    expect(page.locator(".answer")).not_to_be_empty(timeout=120_000)


def test_documents_upload_and_quarantine(page: Page, site: Up, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Card note\n\nThe fx service calls the catalog service.\n", encoding="utf-8")
    secret = tmp_path / "secret.md"
    secret.write_text("# Keys\n\nkey AKIA" + "IOSFODNN7EXAMPLE and nothing else\n", encoding="utf-8")
    visit(page, site, "documents", "documents")
    page.locator("input[type=file]").set_input_files([note, secret])
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("button", name="Card note", exact=True)).to_be_visible(timeout=120_000)
    expect(page.get_by_role("row").filter(has_text="Card note")).to_contain_text(str(datetime.now(UTC).year))
    expect(page.locator("#main")).to_contain_text("secret.md")
    assert "IOSFODNN7EXAMPLE" not in page.content()
    shoot(page, "documents-quarantine")


def test_entities_and_status(page: Page, site: Up) -> None:
    visit(page, site, "entities", "entities")
    page.get_by_role("button", name="checkout", exact=True).first.click()
    expect(page.locator("#panel")).to_contain_text("주문 서비스")
    expect(page.get_by_role("row").filter(has=page.get_by_role("button", name="Accept")).first).not_to_contain_text(
        "doc_"
    )
    visit(page, site, "status", "status")
    expect(page.locator("#main")).to_contain_text("checkout")
    expect(page.locator(".counter").filter(has_text="Services").locator("b")).not_to_have_text("0")
    advice = [sentence for service in site.get("/services")["services"] for sentence in service["findings"]]
    assert advice
    for sentence in advice:
        expect(page.locator("#main")).to_contain_text(sentence)


MANAGED = {"Acknowledge", "Suppress", "Hide", "Superseded by", "Accept", "Reject", "Merge into"}


def offered(page: Page, site: Up) -> set[str]:
    """What the pages offer to do, of all that changes something."""
    panel = page.locator("#panel")

    def seen(*names: str) -> set[str]:
        return {name for name in names if page.get_by_role("button", name=re.compile(f"^{name}(:|$)")).count()}

    visit(page, site, "drift", "offered-drift")
    found = seen("Compare now")
    page.locator(".finding .open").first.click()
    expect(panel).to_contain_text("First detected")
    found |= seen("Acknowledge", "Suppress")
    visit(page, site, "documents", "offered-documents")
    found |= seen("Upload", "Hide")
    if titles := page.locator("#main td button").all():
        titles[0].click()
        expect(panel).to_be_visible()
        found |= {"Superseded by"} if panel.get_by_label("Superseded by").count() else set()
    visit(page, site, "entities", "offered-entities")
    found |= seen("Accept")
    page.get_by_role("button", name="checkout", exact=True).first.click()
    expect(panel.locator("h2")).to_have_text("checkout")
    return found | seen("Reject", "Merge into")


@pytest.mark.parametrize(
    ("capabilities", "namespace", "expected"),
    [
        (["read"], "", set()),
        (["read", "ingest"], "", {"Compare now", "Upload"}),
        (["read", "ingest"], "elsewhere", {"Compare now"}),
        (["read", "manage"], "", {"Compare now", *MANAGED}),
        (["read", "admin"], "", {"Compare now", "Upload", *MANAGED}),
    ],
)
def test_nobody_is_offered_what_the_server_refuses(
    page: Page, site: Up, sign_in: Callable[..., str], capabilities: list[str], namespace: str, expected: set[str]
) -> None:
    token = sign_in("internal", capabilities, namespace)
    if namespace:
        # Nothing lies in it, so that there are no rows to look at.
        visit(page, site, "documents", "offered-elsewhere")
        expect(page.locator("#main")).to_contain_text("There is none that you may see")
        expect(page.get_by_role("button", name="Upload", exact=True)).to_have_count(0)
        visit(page, site, "drift", "offered-elsewhere-drift")
        expect(page.get_by_role("button", name="Compare now")).to_have_count(1)
        return
    assert offered(page, site) == expected
    # What is offered, and only that, is not refused: a question without a thing to decide on is wrong, but not forbidden.
    for name, path in (
        ("Hide", "/documents/none/hide"),
        ("Acknowledge", "/diff/findings/none/acknowledge"),
        ("Accept", "/entities/accept"),
        ("Upload", "/upload"),
    ):
        try:
            site.post(path, {}, token)
        except urllib.error.HTTPError as error:
            assert (error.code == 403) is (name not in expected), (name, error.code)


@pytest.mark.parametrize("address", ["map", "drift", "ask", "documents", "entities", "status"])
def test_accessible_in_both_languages_and_themes(page: Page, site: Up, address: str) -> None:
    visit(page, site, address, f"{address}-light")
    for theme, language in (("light", "en"), ("dark", "ko")):
        page.evaluate(
            "([theme, language]) => { localStorage.setItem('theme', theme); localStorage.setItem('language', language); }",
            [theme, language],
        )
        page.reload()
        expect(page.locator("#main .busy")).to_have_count(0, timeout=120_000)
        shoot(page, f"{address}-{theme}-{language}")
        assert page.locator("html").get_attribute("lang") == language
        found = Axe().run(page).response["violations"]
        serious = {
            v["id"]: [n["html"][:120] for n in v["nodes"][:3]] for v in found if v["impact"] in {"serious", "critical"}
        }
        assert serious == {}, json.dumps(serious, indent=2)


@pytest.mark.parametrize("address", ["map", "drift", "ask", "documents", "entities", "status"])
def test_phone_width(page: Page, site: Up, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, site, address, f"{address}-phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    here = page.locator("#nav [aria-current]").bounding_box()
    assert here is not None
    assert here["x"] >= 0
    assert here["x"] + here["width"] <= 390


def test_hostile_names_stay_text(page: Page, site: Up) -> None:
    visit(page, site, "map", "map-hostile")
    assert HOSTILE in page.locator(".node").evaluate_all(
        "nodes => nodes.map(node => node.getAttribute('aria-label')).join()"
    )
    assert page.locator("#main img").count() == 0
    for address in ("documents", "drift", "status", "entities"):
        visit(page, site, address, f"{address}-hostile")
        assert page.locator("#main img, #main script").count() == 0


def test_errors_say_what_to_do(page: Page, site: Up) -> None:
    page.route(
        "**/diff?*",
        lambda route: route.fulfill(
            status=503,
            content_type="application/problem+json",
            body=json.dumps({"detail": "PostgreSQL does not answer"}),
        ),
    )
    page.goto(f"{site.url}/#/drift")
    expect(page.get_by_role("alert")).to_contain_text("PostgreSQL does not answer")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
