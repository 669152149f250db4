"""The map of a report as SVG: nodes on rings, edges coloured by verdict. Deterministic, no script."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from html import escape as _escape

from diff.reports._words import Say, clean
from nexus.model.finding import Finding, Flag

NODES_MAX = 80
_LEGEND = (
    ("ok", "confirmed"),
    ("doc", "documented, not observed"),
    ("obs", "observed, not documented"),
    ("bad", "conflict"),
)
SIZE = 720
_CLASS = {Flag.CONFIRMED: "ok", Flag.DOC_ONLY: "doc", Flag.OBSERVED_ONLY: "obs", Flag.CONFLICT: "bad"}
_ORDER = (Flag.CONFIRMED, Flag.DOC_ONLY, Flag.OBSERVED_ONLY, Flag.CONFLICT)


def escape(text: str) -> str:
    """Text of a page, without control characters."""
    return _escape(clean(text))


def svg(findings: Sequence[Finding], say: Say) -> str:
    """The best connected nodes, and every finding between them."""
    seen_as = _seen_as(findings)
    ends = {f.fingerprint: tuple(seen_as.get(name, name) for name in (f.source.name, f.target.name)) for f in findings}
    degree = Counter(name for f in findings for name in ends[f.fingerprint])
    shown = sorted(degree, key=lambda name: (-degree[name], name))[:NODES_MAX]
    places = _places(sorted(shown), degree)
    lines = []
    for f in sorted(findings, key=lambda f: (_ORDER.index(f.flag), f.fingerprint)):
        source, target = ends[f.fingerprint]
        if source in places and target in places and source != target:
            x1, y1, x2, y2 = _shortened(places[source], places[target])
            lines.append(
                f'<a href="#f-{escape(f.fingerprint)}"><path class="e {_CLASS[f.flag]}{" u" if f.undecided else ""}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" marker-end="url(#arrow)">'
                f"<title>{escape(f.summary)}</title></path></a>"
            )
    for name in sorted(places):
        x, y = places[name]
        # Outside the ring, where no edge runs.
        above = y - 11 if y <= SIZE / 2 else y + 22
        lines.append(
            f'<g class="n"><circle cx="{x:.1f}" cy="{y:.1f}" r="6"/><text x="{x:.1f}" y="{above:.1f}">{escape(name if len(name) <= 26 else name[:25] + "…")}</text></g>'
        )
    more = (
        f"<p>{escape(say('The {n} best connected of {all} nodes.', n=NODES_MAX, all=len(degree)))}</p>"
        if len(degree) > NODES_MAX
        else ""
    )
    legend = " ".join(f'<span class="{name}">{escape(say(text))}</span>' for name, text in _LEGEND)
    name, dashed = escape(say("Map of the findings")), escape(say("dashed: undecided"))
    return (
        f'<svg viewBox="0 0 {SIZE} {SIZE}" class="map" role="img" aria-label="{name}"><defs>'
        f'<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z"/></marker></defs>{"".join(lines)}</svg><p class="dim legend">{legend} <span class="u">{dashed}</span></p>{more}'
    )


def _seen_as(findings: Sequence[Finding]) -> dict[str, str]:
    """Documented name -> the observed node that a finding ties to it and that differs by its namespace only: one thing, one place on the map."""
    found: dict[str, set[str]] = {}
    for f in findings:
        if f.designed is not None and f.observed is not None:
            for said, seen in ((f.source, f.observed.source), (f.target, f.observed.target)):
                if seen.name.rsplit("/", 1)[-1].casefold() == said.name.casefold():
                    found.setdefault(said.name, set()).add(seen.name)
    return {name: seen.pop() for name, seen in found.items() if len(seen) == 1}


def _places(names: Sequence[str], degree: Counter[str]) -> dict[str, tuple[float, float]]:
    """Best connected nodes on an inner ring, the others around them."""
    inner = (
        set(sorted(names, key=lambda n: (-degree[n], n))[: max(1, len(names) // 4)]) if len(names) > 8 else set()
    )  # eight fit on one ring
    places: dict[str, tuple[float, float]] = {}
    for ring, radius in ((sorted(inner), SIZE * 0.2), ([n for n in names if n not in inner], SIZE * 0.42)):
        for number, name in enumerate(ring):
            angle = 2 * math.pi * number / max(len(ring), 1) - math.pi / 2
            places[name] = (SIZE / 2 + radius * math.cos(angle), SIZE / 2 + radius * math.sin(angle))
    return places


def _shortened(a: tuple[float, float], b: tuple[float, float], gap: float = 8) -> tuple[float, float, float, float]:
    """A line a little to the right of its direction (so that both directions show), outside the circles."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    ox, oy = -uy * 3, ux * 3
    return a[0] + ux * gap + ox, a[1] + uy * gap + oy, b[0] - ux * gap + ox, b[1] - uy * gap + oy


def sparkline(days: Sequence[int], say: Say) -> str:
    """Bars of calls by day, the newest at the right."""
    if not days:
        return ""
    top = max(days) or 1
    bars = "".join(
        f'<rect x="{number * 2}" y="{18 - max(1.0, 17 * math.log1p(count) / math.log1p(top)):.1f}" width="1.6" height="{max(1.0, 17 * math.log1p(count) / math.log1p(top)):.1f}"/>'
        for number, count in enumerate(days)
        if count
    )
    name = escape(say("Activity by day, at most {n}", n=top))
    return f'<svg class="spark" viewBox="0 0 {len(days) * 2} 18" width="{len(days) * 2}" height="18" role="img" aria-label="{name}">{bars}</svg>'
