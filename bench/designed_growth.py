"""How the cost of one document grows with its length (`python bench/designed_growth.py [--entries 2000] [--times 4]`).

CPU seconds from text to claims at two lengths, by what the document is made of, and their ratio: `--times` is what linear cost gives.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from designed.pipeline import designed
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

READERS = load_plugins("designed.readers", "READER")
# What stands before the entries, an entry with two services, what stands behind.
SHAPES: dict[str, tuple[str, Callable[[str, str, int], str], str]] = {
    "bullets": ("", lambda a, b, _: f"- {a} calls {b}\n", ""),
    "numbered": ("", lambda a, b, n: f"{n + 1}. {a} calls {b}\n", ""),
    "nested": ("", lambda a, b, _: f"- {a}\n  - calls {b}\n", ""),
    "table": ("| Caller | Callee |\n|---|---|\n", lambda a, b, _: f"| {a} | {b} |\n", ""),
    "paragraphs": ("", lambda a, b, _: f"The {a} calls the {b}.\n\n", ""),
    "Korean": ("", lambda a, b, _: f"{a}는 {b}를 호출한다.\n\n", ""),
    "Mermaid": ("```mermaid\ngraph LR\n", lambda a, b, _: f"  {a} --> {b}\n", "```\n"),
    "one paragraph": ("", lambda a, b, _: f"The {a} calls the {b}. ", "\n"),
}


def measured(shape: str, entries: int) -> tuple[float, int]:
    """CPU seconds and claims of a document with so many entries."""
    head, entry, foot = SHAPES[shape]
    name = "svc{:03d}-service".format
    body = "".join(entry(name(n % 400), name((n * 7 + 1) % 400), n) for n in range(entries))
    text = f"# Calls\n\n{head}{body}{foot}"
    began = time.process_time()
    found = designed([SourceText(DocumentRef("1", "Calls", "calls.md", "1"), text, ".md", "calls.md")], READERS)
    return time.process_time() - began, len(found.claims)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--times", type=int, default=4)
    arguments = parser.parse_args()
    measured("bullets", 10)
    for shape in SHAPES:
        (short, _), (long, claims) = (measured(shape, arguments.entries * times) for times in (1, arguments.times))
        print(
            f"{shape:<14} {short:6.2f} s -> {long:6.2f} s of CPU at {arguments.times} times the length: {long / short:4.1f}x  ({claims} claims)",
            flush=True,
        )


if __name__ == "__main__":
    main()
