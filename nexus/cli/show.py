"""Answers and edges in a terminal. Texts of documents and names of spans are shown as they are, never read as markup."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

Json = dict[str, Any]
_VERB = {"CALLS": "calls", "PUBLISHES": "publishes to", "SUBSCRIBES": "subscribes to", "DELIVERS": "delivers to"}


def plain(text: str) -> str:
    """Without control characters, which could steer a terminal."""
    return "".join(c for c in text if c == "\n" or c.isprintable())


def say(text: str) -> None:
    """Print what may hold names of spans or texts of documents."""
    print(plain(text))


def edges_table(edges: list[Json], title: str) -> Table:
    """Edges of both layers: who, to whom, how much, what documents say."""
    table = Table(
        title=Text(title), title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, expand=False
    )
    columns = (
        ("", "left"),
        ("edge", "left"),
        ("", "left"),
        ("count", "right"),
        ("errors", "right"),
        ("p95 ms", "right"),
        ("document, or last seen (UTC)", "left"),
    )
    for name, justify in columns:
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]  # rich's literal
    for edge in edges:
        latency = edge.get("client_latency_ms") or edge.get("server_latency_ms") or {}
        count = edge.get("messages") or edge.get("calls") or 0
        observed = edge["layer"] == "observed"
        claims = edge.get("claims") or []
        place = f"{claims[0]['document']['uri']}:{claims[0]['lines'][0]}" if claims else ""
        seen = str(edge.get("last_seen") or "")[:16].replace("T", " ")
        table.add_row(
            Text(edge.get("marker", "")),
            Text(
                plain(
                    f"{edge['source']['name']} {_VERB[edge['relation'].removesuffix('_OBSERVED')]} {edge['target']['name']}"
                )
            ),
            Text("seen" if observed else "stated", style="green" if observed else "cyan"),
            Text(str(count) if observed else ""),
            Text(str(edge.get("errors", 0)) if observed else ""),
            Text(f"{latency['p95']:.3g}" if latency.get("p95") is not None else ""),
            Text(seen if observed else plain(place)),
        )
    return table


def show_answer(body: Json, console: Console | None = None) -> None:
    """The answer with marks, its confidence, and the evidence that it cites."""
    out = console or Console()
    wrong = {s["text"] for s in body["unverified"]["sentences"]}
    text = Text()
    for line in plain(body["answer"]).splitlines():
        text.append(f"{line}\n", style="yellow" if any(line in w or w in line for w in wrong) else "")
    state = f"not answered: {body['abstain_reason']}" if body["abstained"] else f"confidence {body['confidence']:.2f}"
    text.rstrip()
    out.print(Panel(text, title=state, title_align="left"))
    cited = {c["marker"] for c in body["citations"]}
    edges = [e for e in body["evidence"]["edges"] if e["marker"] in cited]
    if edges:
        out.print(edges_table(edges, "Edges"))
    for passage in body["evidence"]["passages"]:
        if passage["marker"] in cited:
            out.print(
                Text(
                    f"[{passage['marker']}] {plain(passage['document']['title'])}  {plain(passage['uri'])}:{passage['lines'][0]}"
                ),
                style="dim",
            )
    counted = body["unverified"]
    if counted["sentences"]:
        out.print(Text(f"not verified: {len(counted['sentences'])} statement(s), marked"), style="yellow")
        for sentence in counted["sentences"]:
            out.print(Text(f"  {plain(sentence['text'])}  ({plain(sentence['reason'])})"), style="yellow")
    for note in (*body["gaps"], *body["degraded"]):
        out.print(Text(f"note: {plain(note)}"), style="dim")
