"""Laws of the comparison (drift.md section 8.3), on random worlds."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from diff import stats
from diff.compare import Comparison, compare
from diff.policy import Policy
from diff.reading import digest
from diff.simulate import Cache, Sim, TrueEdge, says
from diff.visibility import label, views, visible
from nexus.model.claim import Modality, Via
from nexus.model.document import Classification
from nexus.model.finding import Flag

NAMES = ("a", "b", "c", "d")
STRENGTH = {"not_observable": 0, "absent_weak": 1, "absent_strong": 2}
PAIRS = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda p: p[0] != p[1])


@st.composite
def worlds(draw: st.DrawFn) -> Sim:
    requests = {name: draw(st.sampled_from([0, 30, 400, 2000])) for name in NAMES}
    pairs = draw(st.lists(PAIRS, unique=True, max_size=5))
    edges = tuple(
        TrueEdge(
            s,
            t,
            rate=draw(st.sampled_from([0.001, 0.05, 0.5])),
            active_share=draw(st.sampled_from([0.2, 1.0])),
            last_day=draw(st.sampled_from([None, 20])),
        )
        for s, t in pairs
    )
    return Sim(
        requests,
        edges,
        seed=draw(st.integers(0, 50)),
        sampling=draw(st.sampled_from(["none", "none", "head", "tail", "unknown"])),
    )


@st.composite
def documents(draw: st.DrawFn):
    found = []
    for line, (source, target) in enumerate(draw(st.lists(PAIRS, min_size=1, max_size=6)), 1):
        found.append(
            says(
                source,
                target,
                line=line,
                modality=draw(
                    st.sampled_from(
                        [Modality.ASSERTED] * 4 + [Modality.FORBIDDEN, Modality.PLANNED, Modality.DEPRECATED]
                    )
                ),
                via=Via(draw(st.sampled_from(["", "http", "grpc"]))),
                classification=draw(st.sampled_from(list(Classification))),
                namespace=draw(st.sampled_from(["x", "y"])),
            )
        )
    return found


def shape(made: Comparison) -> list[object]:
    return [(r.finding, sorted(r.needs), sorted(r.hidden), r.primary, r.calls) for r in made.rows]


def absences(made: Comparison) -> dict[str, int]:
    return {
        r.finding.fingerprint: STRENGTH[r.finding.status]
        for r in made.seen_with(made.labels)
        if r.finding.status in STRENGTH
    }


@settings(max_examples=40)
@given(worlds(), documents(), st.integers(0, 10_000), st.sampled_from([10, 35, 60]))
def test_order_and_repetition_change_nothing(sim: Sim, docs, seed: int, until: int) -> None:
    evidence = sim.evidence(until, docs)
    chance = random.Random(seed)

    def mixed(items):
        found = [*items, *(chance.sample(list(items), len(items) // 2) if items else [])]
        chance.shuffle(found)
        return tuple(found)

    other = replace(
        evidence,
        designed=mixed(evidence.designed),
        past=tuple(reversed(evidence.past)),
        observed=tuple(reversed(evidence.observed)),
        service_days=tuple(reversed(evidence.service_days)),
    )
    assert shape(compare(other, Policy())) == shape(compare(evidence, Policy()))
    assert digest(replace(evidence, observed=tuple(reversed(evidence.observed)))) == digest(evidence)


@settings(max_examples=40)
@given(worlds(), documents(), st.sets(st.integers(0, 59), max_size=30))
def test_removing_telemetry_never_strengthens_an_absence(sim: Sim, docs, lost: set[int]) -> None:
    whole = compare(sim.evidence(60, docs), Policy())
    less = compare(replace(sim, outages=frozenset(lost)).evidence(60, docs), Policy())
    before = absences(whole)
    for fingerprint, strength in absences(less).items():
        # What was seen in the whole telemetry has no absence there; without those days it may be weakly absent, never strongly.
        assert strength <= before.get(fingerprint, 1), (fingerprint, strength, before.get(fingerprint))


@settings(max_examples=40)
@given(worlds(), documents(), PAIRS)
def test_adding_a_sighting_never_strengthens_an_absence(sim: Sim, docs, pair: tuple[str, str]) -> None:
    more = replace(sim, edges=(*(e for e in sim.edges if (e.source, e.target) != pair), TrueEdge(*pair, rate=0.3)))
    seen = compare(more.evidence(60, docs), Policy())
    ends = {
        (r.finding.source.name, r.finding.target.name)
        for r in seen.rows
        if r.finding.flag is Flag.DOC_ONLY and r.finding.status in ("absent_strong", "ceased")
    }
    assert (
        pair not in ends
        or sim.requests[pair[0]] == 0
        or not any(Cache(more).count(e, d) for e in more.edges if (e.source, e.target) == pair for d in range(60))
    )


@settings(max_examples=40)
@given(
    worlds(),
    documents(),
    st.sampled_from(list(Classification)),
    st.sampled_from([(), ("x",), ("y",), ("x", "y"), ("z",)]),
)
def test_a_reader_gets_exactly_the_report_of_the_claims_it_sees(
    sim: Sim, docs, clearance: Classification, namespaces: tuple[str, ...]
) -> None:
    made = compare(sim.evidence(40, docs), Policy())
    labels = visible(made.labels, clearance, namespaces)
    shown = [d for d in docs if label(d.claims[0]) in labels]
    alone = compare(replace(sim.evidence(40, shown), registry=made.world.evidence.registry), Policy())
    assert sorted(repr(r.finding) for r in made.seen_with(labels)) == sorted(
        repr(r.finding) for r in alone.seen_with(alone.labels)
    )


@given(st.sets(st.sampled_from([f"{c.value}|{n}" for c in Classification for n in "xyz"])))
def test_views_are_what_readers_see(labels: set[str]) -> None:
    found = views(frozenset(labels))
    for clearance in Classification:
        for namespaces in ((), ("x",), ("y", "z"), ("w",)):
            assert visible(labels, clearance, namespaces) in found


@given(st.integers(1, 10**6), st.floats(0.05, 1.0), st.integers(1, 365))
def test_bounds_shrink_with_exposure(m: int, detection: float, days: int) -> None:
    assert stats.rate_upper(m + 1, detection, 0.05) <= stats.rate_upper(m, detection, 0.05)
    assert stats.active_day_upper(days + 1, 0.05) < stats.active_day_upper(days, 0.05)
    assert stats.rate_upper(stats.requests_needed(1e-3, detection, 0.05, 1), detection, 0.05) <= 1e-3 + 1e-12


@given(st.integers(0, 90), st.integers(0, 90), st.integers(0, 60))
def test_longer_silence_is_less_likely(active: int, more: int, silent: int) -> None:
    days = active + more
    assert stats.silent_chance(active, days, silent + 1) <= stats.silent_chance(active, days, silent) + 1e-12
    needed = stats.silent_days_needed(active, days, 1e-3)
    assert needed > 366 or stats.silent_chance(active, days, needed) < 1e-3


@given(st.integers(0, 400), st.integers(1, 400))
def test_intervals_hold_the_share(k: int, n: int) -> None:
    k = min(k, n)
    low, high = stats.jeffreys(k, n)
    assert low <= k / n + 1e-9
    assert high >= k / n - 1e-9
    assert stats.share_lower(k, n) <= k / n + 1e-9 <= stats.share_upper(k, n) + 2e-9


def test_numbers_of_the_contract() -> None:
    assert [stats.silent_days_needed(a, 90, 1e-3) for a in (90, 30, 13)] == [2, 19, 56]
    assert stats.share_upper(0, 299) <= 0.01 < stats.share_upper(0, 298)
    assert round(stats.rate_upper(4100 * 3, 1.0, 0.05) * 4100) == 1
