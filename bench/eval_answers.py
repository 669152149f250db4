"""How well answers are checked: `make eval-answers`.

Prints the share of false (and injected) statements caught and of true ones wrongly flagged, by set; abstention accuracy; and how often answers of each
confidence were right. `--misses` lists what went wrong. Exit 1 where a target is missed: 95 % caught, 5 % flagged.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

from answer.verify import verify
from nexus.model.claim import Claim, Via
from nexus.model.document import Classification, DocumentRef, Passage, Tier
from nexus.model.edge import Cause, DesignedEdge, Latency, ObservedEdge, Relation
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.model.service import Node, NodeKind
from nexus.model.window import TimeRange
from nexus.ports.answers import EdgeEvidence, Packet, PassageEvidence, QuestionKind
from nexus.ports.search import Hit
from nexus.testing import shop
from nexus.testing.answering import ask, service

DATA = Path(__file__).parent / "data" / "answers"
CAUGHT, FLAGGED = 0.95, 0.05
SETS = ("shop", "clinic", "library", "parcels")


def packet_of(passages: list[Passage], edges: list[ObservedEdge | DesignedEdge], findings: list = ()) -> Packet:  # type: ignore[assignment,type-arg]
    def on(edge: ObservedEdge | DesignedEdge) -> tuple:  # type: ignore[type-arg]
        return tuple(f for f in findings if (f.source.name, f.target.name) == (edge.source.name, edge.target.name))

    return Packet(
        "statements",
        "en",
        QuestionKind.DOCUMENT,
        shop.NOW,
        TimeRange(),
        passages=tuple(PassageEvidence(str(n), Hit(p, 0.1, n, None)) for n, p in enumerate(passages, 1)),
        edges=tuple(EdgeEvidence(f"E{n}", e, on(e)) for n, e in enumerate(edges, 1)),
    )


def world(name: str) -> tuple[Packet, Registry]:
    """The evidence of a set, and the registry that its names are read with."""
    if name == "shop":
        return packet_of(list(shop.PASSAGES), [*shop.OBSERVED, *shop.DESIGNED], list(shop.FINDINGS)), shop.registry()
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    kinds = {name: kind for name, kind, _ in data["entities"]}

    def node(name: str) -> Node:
        return Node(name, NodeKind(kinds[name]), "prod")

    observed = [
        ObservedEdge(
            f"o{n}",
            Relation(relation),
            node(source),
            node(target),
            calls=count if relation == "CALLS_OBSERVED" else 0,
            messages=0 if relation == "CALLS_OBSERVED" else count,
            errors=errors,
            client_errors=errors,
            protocols={protocol: count},
            client_latency=Latency(count, p50 * count, 1.0, p50, p95 * 0.8, p95, p99, most),
            first_seen=shop.NOW,
            last_seen=shop.NOW,
            active_days=1,
            causes=tuple(Cause(*c) for c in causes),
        )
        for n, (source, relation, target, count, errors, (p50, p95, p99, most), causes, protocol) in enumerate(
            data["observed"], 1
        )
    ]
    designed = []
    for n, (source, relation, target, uri, line, quote) in enumerate(data["designed"], 1):
        claim = Claim(
            relation,
            source,
            target,
            kinds[source],
            kinds[target],
            DocumentRef(uri, uri, uri, "r"),
            (line, line),
            (1, len(quote)),
            quote,
            "markdown",
            "prose",
            0.9,
        )
        designed.append(DesignedEdge(f"g{n}", Relation(relation), node(source), node(target), Via(), (claim,)))
    passages = [
        Passage(
            f"p{n}",
            DocumentRef(uri, title, uri, "r"),
            n,
            tuple(section),
            (1, 9),
            text,
            Classification.INTERNAL,
            Tier.AUTHORED,
        )
        for n, (title, uri, section, text) in enumerate(data["passages"], 1)
    ]
    registry = Registry(
        Entity(f"e{n}", name, kind, tuple(aliases)) for n, (name, kind, aliases) in enumerate(data["entities"])
    )
    return packet_of(passages, [*observed, *designed]), registry


def statements(name: str) -> list[tuple[str, str]]:
    lines = (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [(label, text) for label, _, text in (line.partition("\t") for line in lines if line.strip())]


def measure(name: str, packet: Packet, registry: Registry, *, misses: bool) -> tuple[float, float]:
    found: dict[str, list[bool]] = defaultdict(list)
    for label, text in statements(name):
        check = verify(text, packet, registry)
        flagged = (
            not check.sentences
            or any(not s.verified for s in check.sentences)
            or any(not c.verified for c in check.citations)
        )
        found[label].append(flagged)
        if misses and flagged == (label == "true"):
            print(
                f"  {'flagged' if flagged else 'missed':8}{text}   {'; '.join(s.reason for s in check.sentences if s.reason)}"
            )
    wrong = found["false"] + found["injected"]
    caught, flagged_true = sum(wrong) / len(wrong), sum(found["true"]) / len(found["true"])
    print(
        f"{name:8} false caught {sum(wrong)}/{len(wrong)} = {caught:.1%} (injected {sum(found['injected'])}/{len(found['injected'])}), "
        f"true flagged {sum(found['true'])}/{len(found['true'])} = {flagged_true:.1%}"
    )
    return caught, flagged_true


def questions(*, misses: bool) -> None:
    answers = service()
    right_abstentions = total_abstain = wrong_abstentions = 0
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    scored: list[tuple[float, bool]] = []
    for expected, question in statements("questions"):
        answer = answers.answer(ask(question))
        if expected == "none":
            # Nothing in the evidence answers it; whatever is said is wrong, and should be said with little confidence.
            if not answer.abstained:
                scored.append((answer.confidence, False))
            continue
        if expected.startswith("abstain:"):
            total_abstain += 1
            good = answer.abstained and answer.abstain_reason == expected.partition(":")[2]
            right_abstentions += good
            if not answer.abstained:
                scored.append((answer.confidence, False))
        else:
            wrong_abstentions += answer.abstained
            good = not answer.abstained and all(
                word.casefold() in answer.text.casefold() for word in expected.split("|")
            )
            if not answer.abstained:
                scored.append((answer.confidence, good))
        if misses and not good:
            print(
                f"  {answer.confidence:.2f} expected {expected}: {question} -> {answer.abstain_reason} {answer.text[:160]!r}"
            )
    for value, good in scored:
        bins[min(int(value * 5), 4)].append((value, good))
    answered = sum(label != "none" for label, _ in statements("questions")) - total_abstain
    print(
        f"abstention: {right_abstentions}/{total_abstain} right with the right reason; {wrong_abstentions}/{answered} answerable questions refused"
    )
    print("confidence   answers   mean   right")
    for number in sorted(bins):
        items = bins[number]
        print(
            f"{number / 5:.1f}-{number / 5 + 0.2:.1f}      {len(items):5}    {sum(v for v, _ in items) / len(items):.2f}    {sum(g for _, g in items) / len(items):.0%}"
        )
    brier = sum((v - g) ** 2 for v, g in scored) / len(scored)
    print(f"Brier score {brier:.3f}; right {sum(g for _, g in scored)}/{len(scored)} of those answered")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--set", default="", help="only this set")
    given = parser.parse_args()
    results = [measure(name, *world(name), misses=given.misses) for name in SETS if given.set in {"", name}]
    if given.set in {"", "questions"}:
        questions(misses=given.misses)
    return 0 if all(caught >= CAUGHT and flagged <= FLAGGED for caught, flagged in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
