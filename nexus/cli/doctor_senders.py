"""What senders and collectors do wrong, from what the service has seen of their spans. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from nexus.cli.doctor_checks import NAMES, Finding, State
from nexus.model.service import UNNAMED

# Shares of a service's spans from which its edges are wrong, not only incomplete.
ORPHANS: Final = 0.1
SUSPECT: Final = 0.02


def services(views: Sequence[Mapping[str, Any]], unreached: frozenset[str]) -> list[Finding]:
    """What senders and collectors do wrong, from `GET /services`. `unreached`: services that no edge reaches."""
    area = "senders"
    if not views:
        return [
            Finding(
                area,
                State.NOTICE,
                "no span has been rolled up yet",
                "point OTEL_EXPORTER_OTLP_ENDPOINT at this service (docs/howto/collector.md); a new service sends after its first request",
            )
        ]
    out: list[Finding] = []
    for view in views:
        out += _service(view, unreached)
    out += _together(views)
    return out or [Finding(area, State.OK, f"{len(views)} services, nothing to mend")]


def _service(view: Mapping[str, Any], unreached: frozenset[str]) -> list[Finding]:
    name, spans = view["name"], max(view["spans"], 1)
    area = f"sender {name}"
    wrong = (
        name == UNNAMED
        or view["orphan_servers"] / max(view["entry_spans"], 1) >= ORPHANS
        or view["clock_suspect"] / spans >= SUSPECT
        or view["rejected"] / spans >= SUSPECT
    )
    # Sentences come worst first and say what to do themselves.
    out = [
        Finding(area, State.PROBLEM if wrong and place == 0 else State.NOTICE, sentence)
        for place, sentence in enumerate(view["findings"])
    ]
    if name in unreached and lacks_ends(view):
        out.append(
            Finding(
                area,
                State.PROBLEM,
                f"none of its {view['spans']} spans is CLIENT, SERVER, PRODUCER or CONSUMER: it takes part in no edge",
                "the instrumentation library or a bridge loses span kinds: use the HTTP, RPC or messaging instrumentation of its language, remove processors that rewrite kinds",
            )
        )
    return out


def lacks_ends(view: Mapping[str, Any]) -> bool:
    """Whether a service makes no calls and nothing that it received is known to be a request: only edges can tell whether kinds are missing."""
    return bool(view["spans"]) and not _exits(view) and not _entered(view) and view["name"] != UNNAMED


def _together(views: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Faults that many services share are one line."""
    out = []
    named = [view for view in views if view["name"] != UNNAMED and view["spans"]]
    only_clients = [
        view["name"] for view in named if _exits(view) and view["spans"] == _exits(view) + view["nested_clients"]
    ]
    if only_clients:
        out.append(
            Finding(
                "senders",
                State.NOTICE,
                f"only CLIENT or PRODUCER spans come from {_some(only_clients)}: who calls them stays unknown",
                "add server instrumentation (for a script or job that nobody calls there is nothing to do)",
            )
        )
    only_servers = [view["name"] for view in named if not _exits(view) and view["spans"] == view["entry_spans"]]
    if only_servers:
        out.append(
            Finding(
                "senders",
                State.NOTICE,
                f"only SERVER or CONSUMER spans come from {_some(only_servers)}: what they call stays unknown",
                "add client, database and messaging instrumentation (for a service that calls nothing there is nothing to do)",
            )
        )
    unknown = [view["name"] for view in named if view["sampling"]["known"] == 0]
    sampled = [view["name"] for view in named if (view["sampling"]["smallest_probability"] or 1.0) < 1]
    if unknown:
        out.append(
            Finding(
                "sampling",
                State.NOTICE,
                f"no span of {_some(unknown)} says with what probability it was kept",
                "if nothing samples there is nothing to do; else use samplers that write tracestate ot=th, in the SDK and in the collector's probabilistic_sampler, "
                "or counts are too low and a rare edge looks dead",
            )
        )
    if sampled:
        out.append(
            Finding(
                "sampling",
                State.NOTICE,
                f"{_some(sampled)} are sampled; counts are extrapolated",
                "send everything to Nexus and sample behind it, towards trace storage (deploy/otel-collector.yaml)",
            )
        )
    return out


def _exits(view: Mapping[str, Any]) -> int:
    return int(sum(view["exit_spans"].values()))


def _entered(view: Mapping[str, Any]) -> int:
    return int(view["root_servers"] + view["orphan_servers"] + view["orphan_consumers"] + view["unresolved_links"])


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in sorted(names)[:NAMES])
    return shown + (f" and {len(names) - NAMES} more" if len(names) > NAMES else "")


__all__ = ["lacks_ends", "services"]
