"""One HTML file with everything in it: a map, the findings with both sides' evidence, activity by day.

It asks for nothing outside (a content security policy forbids it), has no script, and every text in it is escaped.
"""

from __future__ import annotations

from typing import Final

from diff import stats
from diff.report import Format
from diff.reports._map import escape, sparkline, svg
from diff.reports._words import (
    FLAGS,
    HEADINGS,
    TOTALS,
    Say,
    edge,
    notes,
    number,
    place,
    places,
    ratios,
    say_in,
    scope,
    window,
)
from nexus.model.edge import ObservedEdge
from nexus.model.finding import Finding, Flag
from nexus.ports.drift import Report

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_STYLE = """
:root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--ok:#1a7f37;--doc:#9a6700;--obs:#0969da;--bad:#cf222e}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#8b949e;--line:#30363d;--ok:#3fb950;--doc:#d29922;--obs:#58a6ff;--bad:#ff7b72}}
*{box-sizing:border-box}body{margin:0 auto;max-width:70rem;padding:1.5rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem}.said::first-letter{text-transform:uppercase}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid var(--line)}.dim{color:var(--dim)}
.totals{display:flex;flex-wrap:wrap;gap:1rem;padding:0;list-style:none}.totals li{border:1px solid var(--line);border-radius:6px;padding:.4rem .9rem}.totals b{display:block;font-size:1.4rem}
article{border:1px solid var(--line);border-left-width:4px;border-radius:6px;padding:.6rem 1rem;margin:.8rem 0;overflow-wrap:anywhere}
article h3{margin:.1rem 0;font-size:1rem}article p{margin:.35rem 0}
.ok{--c:var(--ok)}.doc{--c:var(--doc)}.obs{--c:var(--obs)}.bad{--c:var(--bad)}
article{border-left-color:var(--c)}.tag{border:1px solid var(--c);color:var(--c);border-radius:1rem;padding:0 .5rem;font-size:.8rem}
blockquote{margin:.3rem 0;padding-left:.7rem;border-left:3px solid var(--line)}code{font:13px ui-monospace,monospace}svg{max-width:100%;height:auto}
.e{stroke:var(--c);stroke-width:1.6;fill:none}
.e.u{stroke-dasharray:4 3}.n circle{fill:var(--bg);stroke:var(--fg)}.n text{fill:var(--fg);font-size:11px;text-anchor:middle}
marker path{fill:var(--dim)}svg.map{display:block;overflow:visible;max-height:80vh;margin:auto}
.legend span::before{content:"";display:inline-block;width:1.4em;border-top:2px solid var(--c);margin:0 .3em .25em 0}
.legend .u::before{border-top:2px dashed currentColor}
@media(max-width:40rem){.n text{font-size:24px}}
.spark rect{fill:var(--c)}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
"""
_CLASS: Final[dict[str, str]] = {
    Flag.CONFIRMED: "ok",
    Flag.DOC_ONLY: "doc",
    Flag.OBSERVED_ONLY: "obs",
    Flag.CONFLICT: "bad",
}


def render(report: Report) -> str:
    """The page."""
    run, say = report.run, say_in(report)
    title = escape(say("Drift of {scope}", scope=scope(report, say)))
    stands = say(
        "Documents {documents}, configuration {configuration}, run {run}.",
        documents=run.document_revision[:12],
        configuration=run.config_hash,
        run=run.id,
    )
    totals = [
        f'<li class="{_CLASS.get(key, "")}"><b>{report.totals[key]}</b>{escape(say(name))}</li>' for name, key in TOTALS
    ]
    parts = [
        "<!doctype html>",
        f'<html lang="{report.body.get("language", "en")}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f'<p class="dim">{escape(window(report, say))}. {escape(stands)}</p>',
        f'<ul class="totals">{"".join(totals)}</ul>',
        f'<p class="said">{escape(ratios(report, say))}.</p>',
        *(f'<p class="dim">{escape(note)}</p>' for note in notes(report, say)),
    ]
    parts += (
        [f"<h2>{escape(say('Map'))}</h2>", svg(report.findings, say)]
        if report.findings
        else [f"<p>{escape(say('No findings.'))}</p>"]
    )
    for flag in FLAGS:
        found = [f for f in report.findings if f.flag is flag]
        if found:
            parts.append(f"<h2>{escape(say(HEADINGS[flag]))} ({len(found)})</h2>")
            parts += [_confirmed(found, say)] if flag is Flag.CONFIRMED else [_finding(f, say) for f in found]
    if report.next:
        parts.append(
            f'<p class="said">{escape(say("more findings than shown; narrow the filters or raise --limit"))}.</p>'
        )
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _confirmed(found: list[Finding], say: Say) -> str:
    rows = []
    for f in found:
        e = f.observed
        where = "<br>".join(f"<code>{escape(text)}</code>" for text in places(f))
        rows.append(
            f'<tr id="f-{escape(f.fingerprint)}"><td>{escape(edge(f, say))}</td><td>{where}</td>'
            f"<td>{(e.calls or e.messages) if e else 0:,}</td><td>{e.errors if e else 0:,}</td><td>{_spark(f, say)}</td></tr>"
        )
    heads = "".join(f"<th>{escape(say(name))}</th>" for name in ("edge", "documents", "calls", "errors", "by day"))
    return f'<table class="ok"><tr>{heads}</tr>{"".join(rows)}</table>'


def _spark(f: Finding, say: Say) -> str:
    series = f.details.get("series")
    return sparkline(series["days"], say) if isinstance(series, dict) else ""


def _finding(f: Finding, say: Say) -> str:
    tags = [f.status, say(f.severity.value), say(f.state.value), *([say("undecided")] if f.undecided else [])]
    parts = [
        f'<article class="{_CLASS[f.flag]}" id="f-{escape(f.fingerprint)}"><h3>{escape(edge(f, say))} {" ".join(f"<span class=tag>{escape(t)}</span>" for t in tags)}</h3>',
        f"<p>{escape(f.summary)}</p>",
    ]
    parts += [
        f"<blockquote><code>{escape(place(c))}</code> {escape(say(c.modality.value))}<br>{escape(c.quote)}</blockquote>"
        for c in (f.designed.claims if f.designed else ())
    ]
    if f.observed is not None:
        parts.append(_observed(f.observed, say))
    parts.append(_spark(f, say))
    if f.what_would_change_this:
        parts.append(
            f'<p class="dim">{escape(say("What would change this: {change}.", change=f.what_would_change_this))}</p>'
        )
    return "".join([*parts, f'<p class="dim"><code>{escape(f.fingerprint)}</code></p></article>'])


def _observed(e: ObservedEdge, say: Say) -> str:
    amount = e.calls or e.messages
    low, high = stats.jeffreys(min(e.errors, amount), amount)
    seen = [
        say(
            "Observed: {edge}, {amount}, {errors} ({low} to {high})",
            edge=say("{source} to {target}", source=e.source.name, target=e.target.name),
            amount=number(say, amount, "call" if e.calls else "message"),
            errors=number(say, e.errors, "error"),
            low=f"{low:.2%}",
            high=f"{high:.2%}",
        )
    ]
    if e.first_seen and e.last_seen:
        seen.append(
            say(
                "first {first}, last {last}",
                first=f"{e.first_seen:%Y-%m-%d %H:%M}",
                last=f"{e.last_seen:%Y-%m-%d %H:%M}",
            )
        )
    traces = " ".join(f"<code>{escape(x.trace_id)}</code>" for x in e.exemplars[:3])
    query = (
        f'<p class="dim">{escape(e.trace_query.backend)}: <code>{escape(e.trace_query.query)}</code></p>'
        if e.trace_query is not None
        else ""
    )
    return f"<p>{escape('; '.join(seen))} {traces}</p>{query}"


REPORT: Final = Format(".html", "text/html", render)
