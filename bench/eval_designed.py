"""Precision and recall of designed edges on labelled documents (`make eval-designed`).

    python bench/eval_designed.py [--corpus DIR] [--system NAME] [--misses] [--write]

Labels are `truth.csv` beside each system's `docs/` (see the corpus's README for the rules of matching). Relations are compared
as (source, relation, target) per system and group of formats; what is optional there is neither right nor wrong. `--write`
records per rule how often it was right (counts only) in `designed/confidence.py`.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from designed.pipeline import designed
from designed.resolve import is_weak
from nexus.model.claim import EXPECTS_OBSERVATION, Claim
from nexus.model.document import DocumentRef, SourceText
from nexus.model.names import squeezed, stem
from nexus.plugins import load_plugins

OPTIONAL = ("weak", "implied", "ambiguous", "optional")
TEXT = ("prose", "table", "list", "env_list", "heading", "list_arrow", "env_block", "codeblock_flow")
SKIPPED = ("image", "ascii", "code_block", "code_comment", "codeblock_list")
CONFIDENCE = Path(__file__).resolve().parents[1] / "designed" / "confidence.py"
Relation = tuple[str, str, str]


@dataclass
class System:
    name: str
    folder: Path
    truth: list[dict[str, str]]
    aliases: dict[str, str] = field(default_factory=dict)

    def canonical(self, name: str) -> str:
        names = {row[end] for row in self.truth for end in ("source", "target")}
        for key in (str.casefold, squeezed, stem):
            wanted = key(name)
            for spelled, meant in self.aliases.items():
                if key(spelled) == wanted:
                    return meant
            for known in names:
                if key(known) == wanted:
                    return known
            if "/" in name:
                last = name.rsplit("/", 1)[1]
                for known in names:
                    if key(known) == key(last):
                        return known
        return name.casefold()


def group(stated_in: str) -> str:
    """The group of formats of a label."""
    if stated_in.startswith("plantuml"):
        return "plantuml"
    if stated_in in ("codeblock_flow", "env_block", "yaml_block", "list_arrow", "heading"):
        return "text:blocks"
    if stated_in in TEXT:
        return "text"
    return stated_in.split("_", maxsplit=1)[0] if stated_in.startswith(("k8s", "compose", "mermaid")) else stated_in


def group_of(claim: Claim) -> str:
    """The group of formats of a claim."""
    if claim.rule.startswith(("flow.", "env_block.")):
        return "text:blocks"
    if claim.rule.startswith(("prose_", "table", "list", "text")):
        return "text"
    return {"kubernetes": "k8s", "istio": "k8s", "networkpolicy": "k8s"}.get(
        claim.rule.split(".")[0], claim.rule.split(".")[0]
    )


def load(folder: Path, namespace: str) -> list[SourceText]:
    texts = []
    folder, files = (
        (folder.parent, [folder]) if folder.is_file() else (folder, sorted(p for p in folder.rglob("*") if p.is_file()))
    )
    for path in files:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            continue
        relative = str(path.relative_to(folder))
        suffix = path.suffix.lower() or (path.name.lower() if path.name.startswith(".") else "")
        texts.append(
            SourceText(
                DocumentRef(relative, path.stem, relative, "r"), text.replace("\r\n", "\n"), suffix, relative, namespace
            )
        )
    return texts


def systems(corpus: Path, only: str) -> list[System]:
    aliases: dict[str, dict[str, str]] = defaultdict(dict)
    places: dict[str, dict[str, str]] = defaultdict(dict)
    with (corpus / "aliases.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for spelled in row["alias"].split(", ") if row["system"] == "korean" else [row["alias"]]:
                aliases[row["system"]][spelled] = row["canonical"]
                for document in re.findall(r"\b\d+\.md\b", row["where"]):
                    places[document][spelled] = row["canonical"]
    found = []
    for truth in sorted(corpus.rglob("truth.csv")):
        name = str(truth.parent.relative_to(corpus))
        if only and only not in name:
            continue
        folder = truth.parent / "docs" if (truth.parent / "docs").is_dir() else truth.parent
        with truth.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        here = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
        rows = [r for r in rows if r["evidence"].rsplit(":", 1)[0] in here]
        known = aliases.get(name, {}) | aliases.get(name.rsplit("/", 1)[-1], {})
        if name == "korean":
            # Each of these documents is a system by itself.
            numbers = sorted({r["evidence"].split(":")[0] for r in rows}, key=lambda n: int(n.split(".")[0]))
            found += [
                System(
                    f"korean/{number}",
                    folder / number,
                    [r for r in rows if r["evidence"].startswith(f"{number}:")],
                    places[number],
                )
                for number in numbers
            ]
            continue
        found.append(System(name, folder, rows, known))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=Path(os.environ.get("SHARED_DIR", "../shared")) / "corpus")
    parser.add_argument("--system", default="")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--group", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if not (arguments.corpus / "aliases.csv").is_file():
        print(f"no labelled corpus at {arguments.corpus}: give --corpus or SHARED_DIR")
        raise SystemExit(0)
    readers = load_plugins("designed.readers", "READER")
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    print(f"{'system':22} {'format':14} {'stated':>6} {'found':>6} {'true':>5} {'P':>6} {'R':>6}")
    for system in systems(arguments.corpus, arguments.system):
        texts = load(system.folder, system.name)
        result = designed(texts, readers)
        claims: dict[str, dict[Relation, list[Claim]]] = defaultdict(lambda: defaultdict(list))
        labelled = {row["evidence"].rsplit(":", 1)[0] for row in system.truth}
        for _, _, claim in result.claims:
            # Of a format's examples only some files are labelled; of a system, all.
            if system.name.startswith("formats/") and claim.document.uri not in labelled:
                continue
            if is_weak(claim) or claim.modality not in EXPECTS_OBSERVATION:
                continue
            relation = (system.canonical(claim.source), claim.relation, system.canonical(claim.target))
            claims[group_of(claim)][relation].append(claim)
        firm: dict[str, dict[Relation, str]] = defaultdict(dict)
        soft: set[Relation] = set()
        true: set[Relation] = set()
        for row in system.truth:
            relation = (system.canonical(row["source"]), row["kind"], system.canonical(row["target"]))
            if row["note"].casefold().startswith(OPTIONAL):
                soft.add(relation)
                continue
            true.add(relation)
            if row["stated_in"] not in SKIPPED:
                firm[group(row["stated_in"])].setdefault(relation, f"{row['evidence']}  {row['quote'][:110]}")
        soft -= true
        same_place(system, claims, soft, true)
        for name in sorted({*firm, *claims}):
            if arguments.group and not name.startswith(arguments.group):
                continue
            stated, found = firm.get(name, {}), claims.get(name, {})
            counted = {r for r in found if r not in soft}
            right = {r for r in counted if r in true}
            # An arrow in a sentence and the sentence's verb are one place to look.
            also = claims.get("text:blocks" if name == "text" else "text" if name == "text:blocks" else name, {})
            recalled = {r for r in stated if r in found or r in also}
            language = "ko" if system.name.startswith("korean") else "en"
            for key in (name, f"{name}/{language}"):
                totals[key].update(stated=len(stated), found=len(counted), right=len(right), recalled=len(recalled))
            print(line(system.name, name, len(stated), len(counted), len(right), len(recalled)))
            for relation, made in found.items():
                for claim in made:
                    if relation not in soft:
                        rules[claim.rule].update(found=1, true=int(relation in true))
            if arguments.misses:
                for relation in sorted(stated.keys() - recalled):
                    print(f"    miss   {' '.join(relation)}  {stated[relation]}")
                for relation in sorted(counted - right):
                    for claim in found[relation][:2]:
                        quote = re.sub(r"\s+", " ", claim.quote)[:200]
                        print(
                            f"    false  {' '.join(relation)}  {claim.document.uri}:{claim.lines[0]}  [{claim.rule}] {quote}"
                        )
    print()
    for name, count in sorted(totals.items()):
        print(line("all", name, count["stated"], count["found"], count["right"], count["recalled"]))
    if arguments.misses:
        for rule, count in sorted(rules.items()):
            print(f"    rule {rule:40} {count['true']:4} of {count['found']:4}")
    if arguments.write:
        write(rules)


def same_place(
    system: System, claims: dict[str, dict[Relation, list[Claim]]], soft: set[Relation], true: set[Relation]
) -> None:
    """A name that no alias maps (the label has `kakao-api` for 카카오 OAuth) counts as the label's of the same line, relation and other end."""
    known = {row[end] for row in system.truth for end in ("source", "target")}
    rows = [
        (row["evidence"], (system.canonical(row["source"]), row["kind"], system.canonical(row["target"])), row["quote"])
        for row in system.truth
    ]
    for found in claims.values():
        for relation in [r for r in found if r not in true and r not in soft]:
            for claim in found[relation]:
                at = {f"{claim.document.uri}:{number}" for number in range(claim.lines[0], claim.lines[1] + 1)}
                match = next(
                    (
                        r
                        for place, r, _ in rows
                        if place in at
                        and r[1] == relation[1]
                        and r not in found
                        and (
                            (relation[0] not in known and relation[2] not in known)
                            or (r[0] == relation[0] and relation[2] not in known)
                            or (r[2] == relation[2] and relation[0] not in known)
                        )
                    ),
                    None,
                )
                if match is not None:
                    found[match] = found.pop(relation)
                    break


def line(system: str, name: str, stated: int, found: int, right: int, recalled: int) -> str:
    precision = f"{right / found:6.3f}" if found else "     -"
    recall = f"{recalled / stated:6.3f}" if stated else "     -"
    return f"{system:22} {name:14} {stated:6} {found:6} {right:5} {precision} {recall}"


def write(rules: dict[str, Counter[str]]) -> None:
    text = CONFIDENCE.read_text(encoding="utf-8")
    body = "".join(f'    "{rule}": ({count["found"]}, {count["true"]}),\n' for rule, count in sorted(rules.items()))
    text = re.sub(
        r"(MEASURED: Final\[dict\[str, tuple\[int, int\]\]\] = \{)[^}]*\}", lambda m: f"{m[1]}\n{body}}}", text
    )
    CONFIDENCE.write_text(text, encoding="utf-8")
    print(f"wrote {len(rules)} rules to {CONFIDENCE}")


if __name__ == "__main__":
    main()
