"""A layered layout (Sugiyama): callers left, what they depend on right. Pure.

Cost is O(sweeps x edges x log nodes). Long edges run through invisible stops, so that they pass between nodes and not
behind them; on pictures too large to follow one edge by eye they are left straight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

COLUMN_WIDTH = 260.0
ROW_HEIGHT = 58.0
STOP_HEIGHT = 22.0
# Up to this many nodes long edges are routed between the others.
MAX_ROUTED = 300
# A column of more nodes is folded into several beside each other.
MAX_ROWS = 36
SWEEPS = 6
# Deeper than this, longest paths make a ribbon that nobody can read; columns are then hops from the entry points.
MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Placed:
    """Centre of a node, in pixels of the unscaled picture."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Picture:
    """Where nodes are, and which points a long edge passes on its way."""

    places: dict[str, Placed]
    routes: dict[tuple[str, str], tuple[Placed, ...]]


def layout(nodes: Sequence[str], edges: Sequence[tuple[str, str]], groups: Mapping[str, str] | None = None) -> Picture:
    """Positions for all nodes. The same input gives the same picture. Nodes of one group stay together in a column."""
    known = set(nodes)
    ends = sorted({(a, b) for a, b in edges if a != b and a in known and b in known})
    layers = _layers(sorted(known), _without_cycles(sorted(known), ends))
    chains = {edge: _chain(edge, layers) for edge in ends} if len(known) <= MAX_ROUTED else {}
    stops = {stop: layer for chain in chains.values() for stop, layer in chain}
    short = [
        pair for edge in ends for pair in pairwise((edge[0], *(stop for stop, _ in chains.get(edge, ())), edge[1]))
    ]
    places = _place(_ordered(layers | stops, short, groups or {}), set(stops))
    return Picture(
        {node: places[node] for node in known},
        {edge: tuple(places[stop] for stop, _ in chain) for edge, chain in chains.items() if chain},
    )


def _chain(edge: tuple[str, str], layers: Mapping[str, int]) -> list[tuple[str, int]]:
    """Invisible stops in the columns between the ends of a long edge, from its source on: (name, layer)."""
    first, last = layers[edge[0]], layers[edge[1]]
    step = 1 if last > first else -1
    return [(f"\0{edge[0]}\0{edge[1]}\0{layer}", layer) for layer in range(first + step, last, step)]


def _without_cycles(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Edges with those turned round that close a cycle in a depth-first walk (iterative: graphs can be deep)."""
    out: dict[str, list[str]] = defaultdict(list)
    incoming: dict[str, int] = dict.fromkeys(nodes, 0)
    for a, b in edges:
        out[a].append(b)
        incoming[b] += 1
    state: dict[str, int] = {}
    back: set[tuple[str, str]] = set()
    for root in sorted(nodes, key=lambda n: (incoming[n] > 0, n)):
        stack = [(root, iter(out[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            node, following = stack[-1]
            for child in following:
                if state.get(child) == 1:
                    back.add((node, child))
                elif child not in state:
                    state[child] = 1
                    stack.append((child, iter(out[child])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return [(b, a) if (a, b) in back else (a, b) for a, b in edges]


def _layers(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Longest path from the left; hops from the left where that is deeper than can be read."""
    layer = _longest(nodes, edges)
    return layer if max(layer.values(), default=0) <= MAX_DEPTH else _hops(nodes, edges)


def _hops(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    out: dict[str, list[str]] = defaultdict(list)
    for a, b in edges:
        out[a].append(b)
    below = {b for _, b in edges}
    front = [node for node in nodes if node not in below]
    layer = dict.fromkeys(front, 0)
    while front:
        following = [b for a in front for b in out[a]]
        front = []
        for node in following:
            if node not in layer:
                layer[node] = 0
                front.append(node)
        depth = max(layer.values()) + 1
        layer.update(dict.fromkeys(front, depth))
    return layer


def _longest(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    out: dict[str, list[str]] = defaultdict(list)
    waiting: dict[str, int] = dict.fromkeys(nodes, 0)
    for a, b in set(edges):
        out[a].append(b)
        waiting[b] += 1
    layer = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not waiting[node]]
    while ready:
        node = ready.pop()
        for child in out[node]:
            layer[child] = max(layer[child], layer[node] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return layer


def _ordered(layers: Mapping[str, int], edges: Sequence[tuple[str, str]], groups: Mapping[str, str]) -> list[list[str]]:
    """Columns with few crossings: barycentre sweeps to the right and back, groups kept together."""
    columns: list[list[str]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for node in sorted(layers, key=lambda n: (groups.get(n, ""), n)):
        columns[layers[node]].append(node)
    near: dict[str, list[str]] = defaultdict(list)
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    row = {node: index / max(1, len(column)) for column in columns for index, node in enumerate(column)}
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            side = -1 if sweep % 2 == 0 else 1
            own = {n: [row[m] for m in near[n] if (layers[m] - layers[n]) * side > 0] for n in column}
            middle = {n: sum(rows) / len(rows) if rows else row[n] for n, rows in own.items()}
            members: dict[str, list[float]] = defaultdict(list)
            for node in column:
                members[groups.get(node) or node].append(middle[node])
            weight = {group: sum(values) / len(values) for group, values in members.items()}
            column.sort(key=lambda n: (weight[groups.get(n) or n], groups.get(n) or n, middle[n], n))
            for index, node in enumerate(column):
                row[node] = index / max(1, len(column))
    return columns


def _place(columns: Sequence[Sequence[str]], stops: set[str]) -> dict[str, Placed]:
    """Columns beside each other, each centred; one too tall is folded, with its stops in the first part."""
    folded: list[list[str]] = []
    for column in columns:
        visible = [node for node in column if node not in stops]
        if len(visible) <= MAX_ROWS:
            folded.append(list(column))
        else:
            parts = [visible[start : start + MAX_ROWS] for start in range(0, len(visible), MAX_ROWS)]
            folded += [[*parts[0], *(node for node in column if node in stops)], *parts[1:]]
    heights = [[STOP_HEIGHT if node in stops else ROW_HEIGHT for node in column] for column in folded]
    tallest = max((sum(column) for column in heights), default=0.0)
    places: dict[str, Placed] = {}
    for x, (column, rows) in enumerate(zip(folded, heights, strict=True)):
        top = (tallest - sum(rows)) / 2
        for node, height in zip(column, rows, strict=True):
            places[node] = Placed(x * COLUMN_WIDTH + COLUMN_WIDTH / 2, top + height / 2)
            top += height
    return places
