"""How long until the pages can be used: the first view, and a map of 200 and of 1,000 nodes. Prints milliseconds, medians of five.

    python bench/pages.py --url http://127.0.0.1:8000      (a running `nexus up`)

The large maps are made here, laid out by the server's own layout, and handed to the page in place of `/map`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import time
from functools import partial

from playwright.sync_api import Page, Route, sync_playwright

from api.web.layout import layout

RUNS = 5
TIERS = 7


def synthetic(count: int) -> tuple[dict[str, object], float]:
    """A layered system of `count` services in ten namespaces with three dependencies each, and the milliseconds that its layout took."""
    source = random.Random(1)
    tier = [source.randrange(TIERS) for _ in range(count)]
    names = [f"ns{index % 10}/service-{index}" for index in range(count)]
    ends = sorted(
        {(names[a], names[b]) for a in range(count) for b in source.sample(range(count), 3) if tier[a] < tier[b]}
    )
    began = time.perf_counter()
    picture = layout(names, ends, {name: name.split("/")[0] for name in names})
    took = (time.perf_counter() - began) * 1000
    verdicts = ["confirmed"] * 7 + ["doc_only", "observed_only", "conflict"]
    nodes = [
        {
            "id": n,
            "name": n,
            "kind": "service",
            "environment": "",
            "namespace": n.split("/")[0],
            "owner": "",
            "x": picture.places[n].x,
            "y": picture.places[n].y,
        }
        for n in names
    ]
    edges = [
        {
            "id": f"{a} {b}",
            "source": a,
            "target": b,
            "relation": "CALLS",
            "observed": "x",
            "designed": None,
            "volume": source.randrange(1, 10**6),
            "errors": 0,
            "verdict": source.choice(verdicts),
            "status": None,
            "fingerprint": None,
            "infrastructure": False,
            "points": [{"x": p.x, "y": p.y} for p in picture.routes.get((a, b), ())],
        }
        for a, b in ends
    ]
    return {"nodes": nodes, "edges": edges, "total_nodes": count, "grouped": False, "run": None}, took


def until(page: Page, url: str, selector: str, count: int) -> float:
    """Milliseconds from navigation until the page shows `count` of `selector` and answers a frame."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_function(
        "([selector, count]) => document.querySelectorAll(selector).length >= count", arg=[selector, count]
    )
    page.evaluate("() => new Promise(requestAnimationFrame)")
    return (time.perf_counter() - began) * 1000


def fulfil(route: Route, *, text: str) -> None:
    """The made map in place of the server's."""
    route.fulfill(body=text, content_type="application/json")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    url = parser.parse_args().url
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        print(
            f"first view (drift)   {statistics.median(until(page, f'{url}/#/drift', '#main h1', 1) for _ in range(RUNS)):7.0f} ms"
        )
        for count in (200, 1000):
            body, took = synthetic(count)
            text = json.dumps(body)
            page.route("**/map", partial(fulfil, text=text))
            shown = statistics.median(until(page, f"{url}/#/map", ".canvas .node", count) for _ in range(RUNS))
            print(
                f"map of {count:4} nodes    {shown:7.0f} ms in the browser, layout {took:5.0f} ms, {len(body['edges'])} edges, {len(text) // 1024} KiB"
            )  # type: ignore[arg-type]
            page.unroute("**/map")
        browser.close()


if __name__ == "__main__":
    main()
