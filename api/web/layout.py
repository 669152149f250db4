"""A layered layout (Sugiyama): callers left, what they depend on right. Pure.

Cost is O(sweeps x edges x log nodes); long edges get no dummy nodes, which keeps a thousand nodes cheap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

COLUMN_WIDTH = 260.0
ROW_HEIGHT = 58.0
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


def layout(nodes: Sequence[str], edges: Sequence[tuple[str, str]], groups: Mapping[str, str] | None = None) -> dict[str, Placed]:
    """Positions for all nodes. The same input gives the same picture. Nodes of one group stay together in a column."""
    known = set(nodes)
    ends = sorted({(a, b) for a, b in edges if a != b and a in known and b in known})
    forward = _without_cycles(sorted(known), ends)
    layers = _layers(sorted(known), forward)
    columns = _ordered(layers, ends, groups or {})
    return _place(columns)


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


def _place(columns: Sequence[Sequence[str]]) -> dict[str, Placed]:
    folded = [column[start : start + MAX_ROWS] for column in columns for start in range(0, len(column), MAX_ROWS)]
    tallest = max((len(column) for column in folded), default=0)
    return {
        node: Placed(x * COLUMN_WIDTH + COLUMN_WIDTH / 2, (index + (tallest - len(column)) / 2) * ROW_HEIGHT + ROW_HEIGHT / 2)
        for x, column in enumerate(folded) for index, node in enumerate(column)
    }
