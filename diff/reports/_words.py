"""Words that several formats share, in the report's language."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from diff.reports._korean import KOREAN
from nexus.model.claim import Claim
from nexus.model.finding import Finding, Flag
from nexus.ports.drift import Report

FLAGS = (Flag.CONFLICT, Flag.DOC_ONLY, Flag.OBSERVED_ONLY, Flag.CONFIRMED)
HEADINGS = {
    Flag.CONFLICT: "Conflicts: documents and traces disagree",
    Flag.DOC_ONLY: "Documented, not observed",
    Flag.OBSERVED_ONLY: "Observed, not documented",
    Flag.CONFIRMED: "Confirmed",
}
TOTALS = (
    ("confirmed", Flag.CONFIRMED.value),
    ("documented only", Flag.DOC_ONLY.value),
    ("observed only", Flag.OBSERVED_ONLY.value),
    ("conflicts", Flag.CONFLICT.value),
    ("undecided", "undecided"),
)
ARROWS = {
    "CALLS": "{source} calls {target}",
    "PUBLISHES": "{source} publishes {target}",
    "SUBSCRIBES": "{source} subscribes to {target}",
    "DELIVERS": "{source} delivers to {target}",
}

# What XML 1.0 cannot hold, and what a terminal would obey.
_CONTROL = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What turns the order of the text around it: a name could show as another one.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# An English text with holes, and what fills them -> the text in the report's language.
Say = Callable[..., str]


def clean(text: str) -> str:
    """Text without control characters."""
    return _BIDI.sub("\ufffd", _CONTROL.sub("\ufffd", text))


def line(text: str) -> str:
    """Text as one line."""
    return clean(" ".join(text.split()))


def say_in(report: Report) -> Say:
    """The words of a report's language."""
    korean = report.body.get("language") == "ko"

    def say(english: str, **holes: Any) -> str:
        return (KOREAN[english] if korean else english).format(**holes)

    return say


def edge(finding: Finding, say: Say) -> str:
    """`checkout calls fx`."""
    return say(ARROWS[finding.relation], source=finding.source.name, target=finding.target.name)


def number(say: Say, count: int, noun: str) -> str:
    """`1 call`, `2,000 messages`."""
    return say("{n} " + noun + ("" if count == 1 else "s"), n=f"{count:,}")


def scope(report: Report, say: Say) -> str:
    """The environment, or all of them."""
    return report.run.environment or say("all environments")


def window(report: Report, say: Say) -> str:
    """`2026-01-01 00:00 to 2026-01-29 00:00 UTC (28 closed days)`."""
    run, kind = report.run, report.body.get("window_kind", "")
    days = f"{round((run.window_to - run.window_from).total_seconds() / 86_400, 1):g}"
    one = days == "1"
    kinds = {
        "closed": "{days} closed day" if one else "{days} closed days",
        "running": "{days} day, the running one: until seven closed days are covered"
        if one
        else "{days} days, the running day included: until seven closed days are covered",
        "stated": "{days} day, as asked" if one else "{days} days, as asked",
    }
    said = say(kinds.get(kind, "{days} day" if one else "{days} days"), days=days)
    return say(
        "{start} to {end} UTC ({kind})",
        start=f"{run.window_from:%Y-%m-%d %H:%M}",
        end=f"{run.window_to:%Y-%m-%d %H:%M}",
        kind=said,
    )


def ratios(report: Report, say: Say) -> str:
    """`accuracy 90 %, coverage ...`."""
    shown = [
        f"{say(spoken)} {value:.0%}"
        for spoken, value in (
            (name.replace("traffic_weighted_", "traffic-weighted "), n) for name, n in report.metrics.items()
        )
        if isinstance(value, float)
    ]
    return ", ".join(shown) if shown else say("no ratios yet")


def notes(report: Report, say: Say) -> list[str]:
    """What stands above all findings: what else there may be, and what could not be read."""
    found = []
    if unseen := report.body.get("unseen"):
        edges, more = unseen["edges_seen"], f"{unseen['edges_unseen_chao1']:g}"
        seen = say("{n} edge was seen" if edges == 1 else "{n} edges were seen", n=f"{edges:,}")
        rest = say(
            "about {more} more exists that was not" if more == "1" else "about {more} more exist that were not",
            more=more,
        )
        found.append(
            say(
                "{seen}; {rest} (Chao1), and the next sighting is of a new one with a chance of {chance} (Good-Turing).",
                seen=seen,
                rest=rest,
                chance=f"{unseen['next_sighting_is_new_good_turing']:.2%}",
            )
        )
    if gaps := (report.body.get("coverage") or {}).get("gaps"):
        found.append(
            say(
                "{n} range of the window could not be read completely; nothing is called absent because of it."
                if len(gaps) == 1
                else "{n} ranges of the window could not be read completely; nothing is called absent because of them.",
                n=len(gaps),
            )
        )
    return found


def place(claim: Claim) -> str:
    """`architecture.md:12`, or `architecture.md:12-14`."""
    first, last = claim.lines
    return f"{claim.document.uri or claim.document.title}:{first}" + (f"-{last}" if last > first else "")


def places(finding: Finding) -> list[str]:
    """Of every claim."""
    return [place(c) for c in finding.designed.claims] if finding.designed is not None else []
