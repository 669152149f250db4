"""How often the diff is wrong, against worlds whose truth is known (drift.md section 8.1).

Every scenario runs the real comparison at the end of each day of a year, as a daily schedule would, and counts what it says about
edges that are alive (a false absence), about dead ones (how long until it is told), and about edges that were there all along. What
is left undecided is a suspicion and is counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta

from diff import stats
from diff.cadence import Cadence
from diff.compare import compare
from diff.counts import many
from diff.policy import Policy
from diff.simulate import EPOCH, Cache, Sim, TrueEdge, says
from nexus.model.claim import Quantity
from nexus.model.edge import DesignedEdge

ABSENT = frozenset({"absent_strong", "ceased"})
SOURCE = "caller"
# Edges of one caller that share a world: their chances are independent, and the caller's traffic is paid once.
TOGETHER = 50
CLAIMED = 300
# Where a living edge comes near the limit: one wrong in so many still bounds the rate at 1 %.
CLOSE = 500
# Declared jobs and what is never seen: no chance plays, every world is the same.
ALIKE = 50


@dataclass(frozen=True, slots=True)
class Scenario:
    """A family of worlds. `edge(n)` is the documented (or undocumented) edge of world n; `limit` the false absences per edge-year allowed."""

    name: str
    edge: Callable[[int], TrueEdge]
    limit: float | None = None
    documented: bool = True
    sim: Callable[[Sim], Sim] = lambda s: s
    schedule: str = ""
    # Statuses that a documented live edge must have in the end, where it cannot be seen.
    expected: frozenset[str] = frozenset()
    requests: int = 1000
    days: int = 365
    # Whether the limit is a share of the edges at the end, instead of a rate per edge-year.
    per_edge: bool = False
    # So many that none wrong bounds a rate at 1 % (rule of three).
    edges: int = CLAIMED

    def over(self, score: Score) -> bool:
        """Whether the diff was wrong more often than allowed."""
        rate = score.false_absent / max(score.worlds, 1) if self.per_edge else score.false_absent_rate
        return (self.limit is not None and rate > self.limit) or bool(score.unexpected) or bool(score.false_new)


@dataclass(slots=True)
class Score:
    """What happened over the worlds of a scenario. Detection and suspicion in days after the truth changed."""

    worlds: int = 0
    edge_years: float = 0.0
    false_absent: int = 0
    # Live edges that were suspected at least once.
    doubted: int = 0
    suspected: list[int] = field(default_factory=list)
    false_new: int = 0
    detected: list[int] = field(default_factory=list)
    missed: int = 0
    unexpected: int = 0
    renamed: int = 0

    @property
    def false_absent_rate(self) -> float:
        """Live edges that were called dead at least once, per edge-year."""
        return self.false_absent / self.edge_years if self.edge_years else 0.0

    @property
    def false_absent_bound(self) -> float:
        """What the rate is below with 95 % confidence."""
        return stats.share_upper(self.false_absent, self.edge_years)

    def add(self, other: Score) -> None:
        """Worlds of the same scenario that were played elsewhere."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


def _target(number: int, **more: object) -> TrueEdge:
    return TrueEdge(SOURCE, f"t{number}", **more)  # type: ignore[arg-type]


def scenarios() -> list[Scenario]:
    """Rates, bursts, weekly and monthly jobs, canaries, outages, renames, head and tail sampling."""
    return [
        Scenario("daily edge, 1 in 20 requests", _target, 0.01),
        Scenario(
            "daily edge at the threshold, 1 in 1,000",
            lambda n: _target(n, rate=0.001),
            0.01,
            requests=10_000,
        ),
        Scenario("about three calls a day", lambda n: _target(n, rate=1 / 300), 0.01, edges=CLOSE),
        Scenario("about one call a day", lambda n: _target(n, rate=0.001), 0.01, edges=CLOSE),
        Scenario("bursts on one random day in three", lambda n: _target(n, rate=0.05, active_share=1 / 3), 0.02),
        Scenario("campaigns, 10 days on and 25 off", lambda n: _target(n, rate=0.05, campaign=(10, 25)), 0.01),
        Scenario(
            "weekly edge on a random day, to day 90",
            lambda n: _target(n, rate=0.02, active_share=1 / 7),
            0.05,
            days=90,
            per_edge=True,
        ),
        Scenario(
            "weekly job on Monday, declared",
            lambda n: _target(n, schedule=Cadence("every Monday", every=7, weekday=0)),
            0.01,
            schedule="every Monday",
            edges=ALIKE,
        ),
        Scenario(
            "monthly job, declared",
            lambda n: _target(n, schedule=Cadence("monthly", every=30, month_day=1)),
            0.01,
            schedule="first of the month",
            edges=ALIKE,
        ),
        Scenario(
            "daily edge, head sampling 10 %",
            _target,
            0.01,
            sim=lambda s: replace(s, keep=0.1, sampling="head"),
        ),
        Scenario(
            "nightly job, head sampling 1 %",
            lambda n: _target(n, schedule=Cadence("nightly")),
            0.0,
            sim=lambda s: replace(s, keep=0.01, sampling="head", requests=dict.fromkeys(s.requests, 100000)),
            schedule="every night at 02:00",
            expected=frozenset({"not_observable", "confirmed"}),
            edges=ALIKE,
        ),
        Scenario(
            "daily edge, tail sampling",
            lambda n: _target(n, rate=1e-9),
            0.0,
            sim=lambda s: replace(s, sampling="tail"),
            expected=frozenset({"not_observable"}),
            edges=ALIKE,
        ),
        Scenario(
            "daily edge, telemetry out for 40 days",
            _target,
            0.01,
            sim=lambda s: replace(s, outages=frozenset(range(100, 140))),
        ),
        Scenario("never called", lambda n: _target(n, rate=0.05, first_day=10_000), edges=ALIKE),
        Scenario("stops on day 120 (daily)", lambda n: _target(n, last_day=120), 0.01, days=200),
        Scenario(
            "stops on day 120 (bursts, one day in three)",
            lambda n: _target(n, active_share=1 / 3, last_day=120),
            days=200,
        ),
        Scenario("undocumented from day 0", _target, documented=False),
        Scenario(
            "undocumented from day 120 (1 in 1,000)",
            lambda n: _target(n, rate=0.001, first_day=120),
            documented=False,
            days=200,
        ),
        Scenario(
            "canary from day 60, one of two versions",
            lambda n: _target(n, first_day=60, versions=("2",)),
            documented=False,
            sim=lambda s: replace(s, versions={SOURCE: ("1", "2")}),
            days=120,
        ),
        Scenario("renamed on day 120", lambda n: _target(n, last_day=119), days=135),
    ]


def run(scenario: Scenario, worlds: int, policy: Policy, step: int = 1, first: int = 0) -> Score:
    """Play `worlds` worlds of a scenario from number `first` on. `step` looks only every so many days (for a quick test)."""
    score = Score()
    for start in range(first, first + worlds, TOGETHER):
        _play(scenario, list(range(start, min(start + TOGETHER, first + worlds))), policy, step, score)
    return score


def _play(scenario: Scenario, numbers: list[int], policy: Policy, step: int, score: Score) -> None:
    edges = [scenario.edge(n) for n in numbers]
    known = TrueEdge(SOURCE, "steady")
    renamed = (
        [replace(e, target=f"{e.target}-next", first_day=120, last_day=None) for e in edges]
        if "renamed" in scenario.name
        else []
    )
    # Callees send no spans of their own: what they would add is work for each look, and no evidence of the caller.
    sim = scenario.sim(Sim({SOURCE: scenario.requests, "steady": 500}, (*edges, *renamed, known), seed=numbers[0]))
    documents = [says(SOURCE, "steady")]
    if scenario.documented:
        documents += [_document(e, scenario.schedule, line) for line, e in enumerate(edges, 2)]
    cache = Cache(sim)
    state = {e.target: _Seen() for e in edges}
    last: dict[str, tuple[str, bool]] = {}
    for until in range(1, scenario.days + 1, step):
        made = compare(sim.evidence(until, documents, cache=cache), policy)
        last = {
            r.subject.target.name: (r.kind.status, r.verdict.undecided)
            for r in made.rows
            if not r.hidden and r.subject.source.name == SOURCE
        }
        for edge in edges:
            state[edge.target].note(edge, *last.get(edge.target, ("", False)), until, step)
    score.worlds += len(edges)
    asked = {r.old for r in made.world.renames} if renamed else frozenset[str]()
    for edge in edges:
        _settle(
            scenario, edge, state[edge.target], last.get(edge.target, ("", False))[0], score, asked=edge.target in asked
        )


def _document(edge: TrueEdge, schedule: str, line: int) -> DesignedEdge:
    return says(SOURCE, edge.target, line=line, quantities=(Quantity("schedule", text=schedule),) if schedule else ())


@dataclass(slots=True)
class _Seen:
    false_absent: bool = False
    doubted: bool = False
    first_suspected: int | None = None
    first_new: int | None = None
    first_gone: int | None = None
    alive_days: int = 0

    def note(self, edge: TrueEdge, status: str, undecided: bool, until: int, step: int) -> None:
        alive = edge.first_day < until and (edge.last_day is None or until - 1 <= edge.last_day)
        if alive and edge.first_day < 10_000:  # later: never
            self.alive_days += step
            self.false_absent |= status in ABSENT and not undecided
            self.doubted |= status in ABSENT and undecided
        if status in ABSENT and not alive:
            self.first_suspected = self.first_suspected or until
            self.first_gone = self.first_gone or (None if undecided else until)
        if (
            status in ("provisional", "emerging", "rare", "robust", "external")
            and self.first_new is None
            and status != "provisional"
        ):
            self.first_new = until


def _settle(scenario: Scenario, edge: TrueEdge, seen: _Seen, last: str, score: Score, *, asked: bool) -> None:
    """`asked`: whether people are asked for a rename, which decides what is neither found nor missed."""
    score.renamed += asked
    score.edge_years += seen.alive_days / 365
    score.false_absent += int(seen.false_absent)
    score.doubted += int(seen.doubted)
    if scenario.documented:
        score.false_new += int(seen.first_new is not None)
        if edge.last_day is not None or edge.first_day >= 10_000:
            since = 0 if edge.last_day is None else edge.last_day + 1
            if seen.first_gone is None:
                score.missed += not asked
            else:
                score.detected.append(seen.first_gone - since)
            if seen.first_suspected is not None:
                score.suspected.append(seen.first_suspected - since)
    elif seen.first_new is None:
        score.missed += 1
    else:
        score.detected.append(seen.first_new - edge.first_day)
    if scenario.expected and last not in scenario.expected:
        score.unexpected += 1


def table(scores: Iterator[tuple[Scenario, Score]]) -> Iterator[str]:
    """Lines of the table (Markdown), as they become known."""
    yield "| scenario | edges | years | called dead while alive | limit | suspected while alive | false new | suspected after | told after | missed | unexpected |"
    yield "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    for scenario, score in scores:
        rate = f"{score.false_absent} (at most {score.false_absent_bound:.1%}/yr)" if score.edge_years else "-"
        doubts = f"{score.doubted / score.edge_years:.1%}/yr" if score.edge_years else "-"
        if scenario.per_edge:
            rate = f"{score.false_absent} ({score.false_absent / max(score.worlds, 1):.1%} of all)"
        limit = f"{scenario.limit:.0%}" if scenario.limit is not None else "-"
        missed = f"{score.missed} ({many(score.renamed, 'rename')} proposed)" if score.renamed else f"{score.missed}"
        cells = (
            scenario.name,
            score.worlds,
            f"{score.edge_years:.0f}",
            rate,
            limit,
            doubts,
            score.false_new,
            _days(score.suspected),
            _days(score.detected),
            missed,
            score.unexpected,
        )
        yield f"| {' | '.join(map(str, cells))} |"


def _days(found: list[int]) -> str:
    """Median and worst."""
    days = sorted(found)
    return f"{days[len(days) // 2]} d, at most {days[-1]}" if days else "-"


def span(days: int) -> str:
    """The simulated range, for the heading."""
    return f"{EPOCH.isoformat()} to {(EPOCH + timedelta(days=days)).isoformat()}"
