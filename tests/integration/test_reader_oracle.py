"""Our diagram parsers against the official ones: the `mermaid` npm package and `plantuml-parser`.

Needs node and a folder with both packages and jsdom (`npm install mermaid jsdom plantuml-parser`), named by ORACLE_MODULES; skipped
with the reason otherwise. Reads the cases of this repository, and the corpus where SHARED_DIR (default `../shared`) has one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from designed.block_lines import BlockLines
from designed.drawing import Diagram
from designed.reader import ReadContext
from designed.readers import mermaid, plantuml
from designed.readers._mermaid_flowchart import read_flowchart
from designed.readers._mermaid_sequence import read_sequence
from designed.readers._plantuml_text import parts

HERE = Path(__file__).parent
CASES = HERE.parent / "cases" / "readers"
CORPUS = Path(os.environ.get("SHARED_DIR", str(HERE.parent.parent.parent / "shared"))) / "corpus"
MODULES = Path(os.environ.get("ORACLE_MODULES", "node_modules/.."))
FENCE = re.compile(r"^```[ \t]*mermaid[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def texts(suffixes: tuple[str, ...], fence: re.Pattern[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for root in (CASES, CORPUS):
        for path in sorted(root.rglob("*")) if root.is_dir() else []:
            # What the official parser refuses is no measure of ours.
            if path.suffix in suffixes and "broken" not in path.name:
                found[str(path.relative_to(root))] = path.read_text(encoding="utf-8")
            elif path.suffix == ".md" and fence is not None:
                body = path.read_text(encoding="utf-8", errors="replace")
                found.update(
                    {
                        f"{path.relative_to(root)}:{body.count(chr(10), 0, m.start()) + 1}": m.group(1)
                        for m in fence.finditer(body)
                    }
                )
    return found


@pytest.fixture(scope="module")
def oracle() -> dict[str, dict[str, dict]]:
    if shutil.which("node") is None:
        pytest.skip("no node")
    missing = [
        name for name in ("mermaid", "jsdom", "plantuml-parser") if not (MODULES / "node_modules" / name).is_dir()
    ]
    if missing:
        pytest.skip(f"ORACLE_MODULES has no {', '.join(missing)}")
    asked = {"mermaid": texts((".mmd",), FENCE), "plantuml": texts((".puml",), None)}
    sent = json.dumps(
        {"modules": str(MODULES.resolve()), **{kind: list(found.values()) for kind, found in asked.items()}}
    )
    done = subprocess.run(
        ["node", str(HERE / "reader_oracle.mjs")], input=sent, capture_output=True, text=True, check=True, timeout=120
    )
    answer = json.loads(done.stdout)
    return {
        kind: {
            name: {**result, "text": text}
            for (name, text), result in zip(asked[kind].items(), answer[kind], strict=True)
        }
        for kind in asked
    }


def pairs(diagram: Diagram) -> Counter[tuple[str, str]]:
    return Counter((e.source, e.target) for e in diagram.edges)


def test_mermaid_flowcharts_have_the_official_parsers_arrows(oracle) -> None:
    compared = 0
    for name, result in oracle["mermaid"].items():
        if result.get("type") == "flowchart":
            header = mermaid._header(result["text"])
            diagram, problems = read_flowchart(BlockLines(result["text"]), header.end(), name)
            assert pairs(diagram) == Counter(tuple(e) for e in result["edges"]), name
            assert not problems, name
            compared += 1
    assert compared >= 4


def test_mermaid_sequences_have_the_official_parsers_messages_but_answers(oracle) -> None:
    compared = 0
    for name, result in oracle["mermaid"].items():
        if result.get("type") == "sequence":
            header = mermaid._header(result["text"])
            diagram, _ = read_sequence(BlockLines(result["text"]), header.end(), name)
            ours, theirs = set(pairs(diagram)), {tuple(e) for e in result["edges"]}
            assert ours <= theirs, name
            # An answer goes back to who called, or dashed along the chain of calls.
            dotted = {tuple(e) for e in result["dotted"]}
            assert all((b, a) in ours or (a, b) in dotted for a, b in theirs - ours), name
            compared += 1
    assert compared >= 1


def test_what_the_official_parser_reads_we_read(oracle) -> None:
    refused = {name: result["error"] for name, result in oracle["mermaid"].items() if "error" in result}
    assert not refused, "the official parser refuses these: the cases are wrong"


def test_plantuml_has_the_other_parsers_arrows(oracle) -> None:
    compared = 0
    for name, result in oracle["plantuml"].items():
        # That parser knows the language only in part: what it finds, we must find.
        # It takes the colour in `-[#red]->` for a name.
        theirs = {
            tuple(e) for e in result.get("edges", []) if e[0] != e[1] and not any(end.startswith("#") for end in e)
        }
        if not theirs:
            continue
        ours: set[tuple[str, str]] = set()
        lines = BlockLines(result["text"])
        for part in parts(result["text"]):
            ours |= set(pairs(plantuml.draw(lines, part, ReadContext(name), [])))
        # Answers of sequence diagrams are no dependencies.
        assert {pair for pair in theirs - ours if pair[::-1] not in ours} == set(), name
        compared += 1
    assert compared >= 1
