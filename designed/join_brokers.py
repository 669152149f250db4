"""Which way a program uses a broker whose address it has: publish or subscribe. Pure.

An address tells that a program reaches a broker, not in which direction. In this order: what the same place says (a comment
"Kafka consumer", a consumer group's variable), what another document states of the same two, what the program's name says
(a worker on a queue reads it), and last, elimination: where all others only read, the one left writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from designed.join_addresses import Found
from designed.kinds import bracketed, vocabulary, words
from designed.names_known import squeeze
from designed.reader import RawClaim, RawName, Reading

_READS: Final = re.compile(r"\b(?:consum\w+|subscrib\w+|listen\w+|sink)\b|컨슈머|구독|소비", re.IGNORECASE)
_WRITES: Final = re.compile(r"\b(?:produc(?:er|es|ing)|publish\w+|emit\w*)\b|프로듀서|발행", re.IGNORECASE)
_READ_VARIABLES: Final = re.compile(r"GROUP_?ID|CONSUMER|SUBSCRI|LISTENER", re.IGNORECASE)
_WRITE_VARIABLES: Final = re.compile(r"PRODUCER|PUBLISH", re.IGNORECASE)
_READER_NAMES: Final = vocabulary("worker workers consumer subscriber listener processor sink indexer")
_TOOLS: Final = vocabulary(
    "ui admin console commander kafdrop akhq kowl exporter init setup initializer migrations topics manager cmak"
)
_WRITER_NAMES: Final = vocabulary("producer publisher emitter source ingest collector")


def direct(found: Sequence[Found], readings: Mapping[str, Reading]) -> list[Found]:
    """Give every broker access a direction, or make it weak."""
    stated = _stated(readings)
    variables = _variables(readings)
    decided: dict[tuple[str, str], dict[str, str]] = {}
    open_pairs: dict[tuple[str, str], None] = {}
    found = [_tool(item) for item in found]
    for item in found:
        if not item.access or item.claim.weak:
            continue
        pair = (squeeze(item.claim.source.name), squeeze(item.claim.target.name))
        directions = decided.setdefault(pair, {})
        for direction, why in _directions(item.claim, stated, variables).items():
            directions.setdefault(direction, why)
        open_pairs[pair] = None
    _eliminate(decided, list(open_pairs))
    result: list[Found] = []
    for item in found:
        if not item.access:
            result.append(item)
            continue
        pair = (squeeze(item.claim.source.name), squeeze(item.claim.target.name))
        directions = decided.get(pair, {})
        if item.claim.weak or not directions:
            claim = replace(
                item.claim, relation="PUBLISHES", weak=item.claim.weak or "direction not stated", confidence=0.3
            )
            result.append(Found(item.path, claim))
            continue
        for direction, why in sorted(directions.items()):
            claim = replace(
                item.claim,
                relation=direction,
                confidence=0.85 if why in ("comment", "variable", "stated") else 0.65,
                attributes={**item.claim.attributes, "direction": why},
            )
            result.append(Found(item.path, claim))
    return result


def _tool(item: Found) -> Found:
    """Consoles and set-up jobs look at a broker, but neither publish to nor read a channel of the system."""
    if item.access and not item.claim.weak and set(words(item.claim.source.name)) & _TOOLS:
        return Found(item.path, replace(item.claim, weak="an administration tool"), access=True)
    return item


def _directions(
    claim: RawClaim, stated: Mapping[tuple[str, str], set[str]], variables: Mapping[str, str]
) -> dict[str, str]:
    comment = claim.attributes.get("comment", "")
    found: dict[str, str] = {}
    if _READS.search(comment):
        found["SUBSCRIBES"] = "comment"
    if _WRITES.search(comment):
        found["PUBLISHES"] = "comment"
    if found:
        return found
    source = squeeze(claim.source.name)
    if _READ_VARIABLES.search(variables.get(source, "")):
        found["SUBSCRIBES"] = "variable"
    if _WRITE_VARIABLES.search(variables.get(source, "")):
        found["PUBLISHES"] = "variable"
    if found:
        return found
    for a in _spellings(claim.source):
        for b in _spellings(claim.target):
            for direction in stated.get((a, b), ()):
                found[direction] = "stated"
    if found:
        return found
    # The head of the name tells what a program does; "consumer-service" may be about consumers.
    parts = words(claim.source.name)
    if (parts[-1:] and parts[-1] in _READER_NAMES) or "queue" in parts:
        return {"SUBSCRIBES": "name"}
    return {"PUBLISHES": "name"} if parts[-1:] and parts[-1] in _WRITER_NAMES else {}


def _spellings(name: RawName) -> set[str]:
    found = {squeeze(name.name), *(squeeze(alias) for alias in name.aliases)}
    return {item for item in found if item}


def _stated(readings: Mapping[str, Reading]) -> dict[tuple[str, str], set[str]]:
    """Directions that documents state: of a program and a broker, or of a program and a topic in a named broker."""
    found: dict[tuple[str, str], set[str]] = {}
    for reading in readings.values():
        for claim in reading.claims:
            if claim.relation not in ("PUBLISHES", "SUBSCRIBES") or claim.weak:
                continue
            targets = _spellings(claim.target) | {squeeze(claim.attributes.get("broker", ""))}
            targets |= {squeeze(alias) for alias in claim.attributes.get("broker_aliases", "").split("|")}
            main, bracket = bracketed(claim.target.name)
            targets |= {squeeze(main), squeeze(bracket)}
            for source in _spellings(claim.source):
                for target in targets - {""}:
                    found.setdefault((source, target), set()).add(claim.relation)
    return found


def _variables(readings: Mapping[str, Reading]) -> dict[str, str]:
    found: dict[str, str] = {}
    for _, reading in sorted(readings.items()):
        for fact in reading.facts:
            if fact.kind == "env":
                found[squeeze(fact.subject)] = f"{found.get(squeeze(fact.subject), '')} {fact.key}"
    return found


def _eliminate(decided: dict[tuple[str, str], dict[str, str]], pairs: Sequence[tuple[str, str]]) -> None:
    """Where one direction has no one at a broker and few are left, those are it: a queue that is only read makes no sense."""
    by_broker: dict[str, list[tuple[str, str]]] = {}
    for pair in pairs:
        by_broker.setdefault(pair[1], []).append(pair)
    for mine in by_broker.values():
        left = [pair for pair in mine if not decided[pair]]
        have = {direction for pair in mine for direction in decided[pair]}
        if not left or len(left) > 2 or len(have) != 1:
            continue
        missing = "PUBLISHES" if "SUBSCRIBES" in have else "SUBSCRIBES"
        for pair in left:
            decided[pair][missing] = "elimination"
