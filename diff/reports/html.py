"""One HTML file with everything in it: a map, the findings with both sides' evidence, activity by day.

It asks for nothing outside (a content security policy forbids it), has no script, and every text in it is escaped.
"""

from __future__ import annotations

from html import escape as _escape
from typing import Final

from diff import stats
from diff.report import Format
from diff.reports._map import sparkline, svg
from diff.reports._words import FLAGS, HEADINGS, clean, edge, ratios, window
from nexus.model.finding import Finding, Flag
from nexus.ports.drift import Report

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_STYLE = """
:root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--ok:#1a7f37;--doc:#9a6700;--obs:#0969da;--bad:#cf222e}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#8b949e;--line:#30363d;--ok:#3fb950;--doc:#d29922;--obs:#58a6ff;--bad:#ff7b72}}
*{box-sizing:border-box}body{margin:0 auto;max-width:70rem;padding:1.5rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid var(--line)}.dim{color:var(--dim)}
.totals{display:flex;flex-wrap:wrap;gap:1rem;padding:0;list-style:none}.totals li{border:1px solid var(--line);border-radius:6px;padding:.4rem .9rem}.totals b{display:block;font-size:1.4rem}
article{border:1px solid var(--line);border-left-width:4px;border-radius:6px;padding:.6rem 1rem;margin:.8rem 0;overflow-wrap:anywhere}
article h3{margin:.1rem 0;font-size:1rem}article p{margin:.35rem 0}
.ok{--c:var(--ok)}.doc{--c:var(--doc)}.obs{--c:var(--obs)}.bad{--c:var(--bad)}
article{border-left-color:var(--c)}.tag{border:1px solid var(--c);color:var(--c);border-radius:1rem;padding:0 .5rem;font-size:.8rem}
blockquote{margin:.3rem 0;padding-left:.7rem;border-left:3px solid var(--line)}code{font:13px ui-monospace,monospace}svg{max-width:100%;height:auto}
.e{stroke:var(--c);stroke-width:1.6;fill:none}
.e.u{stroke-dasharray:4 3}.n circle{fill:var(--bg);stroke:var(--fg)}.n text{fill:var(--fg);font-size:11px;text-anchor:middle}
marker path{fill:var(--dim)}svg[aria-label^=Map]{display:block;overflow:visible;max-height:80vh;margin:auto}
.legend span::before{content:"";display:inline-block;width:1.4em;border-top:2px solid var(--c);margin:0 .3em .25em 0}
@media(max-width:40rem){.n text{font-size:24px}}
.spark rect{fill:var(--c)}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
"""
_CLASS = {Flag.CONFIRMED: "ok", Flag.DOC_ONLY: "doc", Flag.OBSERVED_ONLY: "obs", Flag.CONFLICT: "bad"}


def escape(text: str) -> str:
    """Text of a page, without control characters."""
    return _escape(clean(text))


def render(report: Report) -> str:
    """The page."""
    run, totals, body = report.run, report.totals, report.body
    title = f"Drift of {run.environment or 'all environments'}"
    unseen = body.get("unseen") or {}
    coverage = body.get("coverage") or {}
    parts = [
        "<!doctype html>", '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><meta name="referrer" content="no-referrer"><title>{escape(title)}</title><style>{_STYLE}</style></head><body>',
        f"<h1>{escape(title)}</h1>",
        f'<p class="dim">{escape(window(report))}. Documents {escape(run.document_revision[:12])}, configuration {escape(run.config_hash)}, run {escape(run.id)}.</p>',
        '<ul class="totals">', *(f'<li class="{_CLASS[flag]}"><b>{totals[flag.value]}</b>{escape(flag.value.replace("_", " "))}</li>' for flag in FLAGS),
        f"<li><b>{totals['undecided']}</b>undecided</li></ul>", f"<p>{escape(ratios(report)).capitalize()}.</p>",
    ]
    if unseen:
        parts.append(f'<p class="dim">{unseen["edges_seen"]} edges were seen; about {unseen["edges_unseen_chao1"]:g} more exist that were not (Chao1).</p>')
    if coverage.get("gaps"):
        parts.append(f"<p><b>{len(coverage['gaps'])} ranges of the window could not be read completely;</b> nothing is called absent because of them.</p>")
    parts += ["<h2>Map</h2>", svg(report.findings)] if report.findings else ["<p>No findings.</p>"]
    for flag in FLAGS:
        found = [f for f in report.findings if f.flag is flag]
        if found:
            parts.append(f"<h2>{escape(HEADINGS[flag])} ({len(found)})</h2>")
            parts += [_confirmed(found)] if flag is Flag.CONFIRMED else [_finding(f) for f in found]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _confirmed(found: list[Finding]) -> str:
    rows = []
    for f in found:
        e = f.observed
        rows.append(
            f'<tr id="f-{escape(f.fingerprint)}"><td>{escape(edge(f))}</td><td>{"<br>".join(_place(f))}</td>'
            f"<td>{(e.calls or e.messages) if e else 0:,}</td><td>{e.errors if e else 0:,}</td><td>{_spark(f)}</td></tr>"
        )
    return f'<table class="ok"><tr><th>edge</th><th>documents</th><th>calls</th><th>errors</th><th>by day</th></tr>{"".join(rows)}</table>'


def _place(f: Finding) -> list[str]:
    return [f"<code>{escape(c.document.uri or c.document.title)}:{c.lines[0]}</code>" for c in (f.designed.claims if f.designed else ())]


def _spark(f: Finding) -> str:
    series = f.details.get("series")
    return sparkline(series["days"]) if isinstance(series, dict) else ""


def _finding(f: Finding) -> str:
    tags = [f.status, f.severity.value, f.state.value, *(["undecided"] if f.undecided else [])]
    parts = [
        f'<article class="{_CLASS[f.flag]}" id="f-{escape(f.fingerprint)}"><h3>{escape(edge(f))} {" ".join(f"<span class=tag>{escape(t)}</span>" for t in tags)}</h3>',
        f"<p>{escape(f.summary)}</p>",
    ]
    parts += [
        f"<blockquote><code>{escape(c.document.uri or c.document.title)}:{c.lines[0]}</code> {escape(c.modality.value)}<br>{escape(c.quote)}</blockquote>"
        for c in (f.designed.claims if f.designed else ())
    ]
    e = f.observed
    if e is not None:
        amount = e.calls or e.messages
        low, high = stats.jeffreys(min(e.errors, amount), amount)
        times = f"first {e.first_seen:%Y-%m-%d %H:%M}, last {e.last_seen:%Y-%m-%d %H:%M}; " if e.first_seen and e.last_seen else ""
        traces = " ".join(f"<code>{escape(x.trace_id)}</code>" for x in e.exemplars[:3])
        parts.append(
            f"<p>Observed: {escape(e.source.name)} to {escape(e.target.name)}, {amount:,} {'calls' if e.calls else 'messages'}, {e.errors:,} errors "
            f"({low:.2%} to {high:.2%}); {times}{traces}</p>"
        )
        if e.trace_query is not None:
            parts.append(f'<p class="dim">{escape(e.trace_query.backend)}: <code>{escape(e.trace_query.query)}</code></p>')
    parts.append(_spark(f))
    if f.what_would_change_this:
        parts.append(f'<p class="dim">What would change this: {escape(f.what_would_change_this)}.</p>')
    return "".join([*parts, f'<p class="dim"><code>{escape(f.fingerprint)}</code></p></article>'])


REPORT: Final = Format(".html", "text/html", render)
