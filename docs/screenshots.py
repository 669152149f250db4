"""Pictures of the pages with the demo's data: `make screenshots` while `make demo` runs in another terminal."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent / "pages"
# Where the demo's documents lie is nobody's business but that of who took the pictures.
HERE, THERE = Path(__file__).parents[1].resolve().as_uri(), "file:///srv/nexus"
RENAME = """([here, there]) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(here, there);
}"""
SHOTS = {
    "map": ("map", None),
    "map-edge": ("map", '.canvas .edge[aria-label^="checkout calls fx"]'),
    "drift": ("drift", None),
    "drift-finding": ("drift", ".finding .open"),
    "ask": ("ask?q=Why+does+checkout+call+fx%3F", None),
    "documents": ("documents", None),
    "entities": ("entities", None),
    "status": ("status", None),
}


def main() -> None:
    """Take every picture at desktop width, and the map and the drift report at phone width."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    url = parser.parse_args().url
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        for width, height, names, suffix in ((1280, 800, tuple(SHOTS), ""), (390, 844, ("map", "drift"), "-phone")):
            page = browser.new_page(viewport={"width": width, "height": height}, locale="en-GB")
            for name in names:
                address, click = SHOTS[name]
                page.goto(f"{url}/#/{address}")
                page.locator("#main .busy").wait_for(state="detached")
                if click:
                    page.locator(click).first.press("Enter")
                    page.locator("#panel .busy").wait_for(state="detached")
                page.wait_for_timeout(700)
                page.evaluate(RENAME, [HERE, THERE])
                page.screenshot(path=FOLDER / f"{name}{suffix}.png")
        browser.close()


if __name__ == "__main__":
    main()
