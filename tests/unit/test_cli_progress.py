"""Lines about long work: every half minute, with the rate and the time left of the stage."""

from __future__ import annotations

from nexus.cli.progress import EVERY_S, Lines, stage_of


def test_a_line_every_half_minute_with_rate_and_time_left_of_its_stage():
    now, said = [0.0], []
    report = Lines(said.append, lambda: now[0])
    for done in range(1, 101):
        now[0] += 1.0
        report(done, 1000, "a/b.md")
    assert [line.split(" of ")[0] for line in said] == ["documents: 31", "documents: 61", "documents: 91"]
    assert said[-1] == "documents: 91 of 1,000 (1.0/s, 0:15:09 left)"
    now[0] += EVERY_S
    report(0, 5000, "vectors (e5-384)")
    assert len(said) == 3
    now[0] += EVERY_S
    report(600, 5000, "vectors (e5-384)")
    assert said[-1] == "vectors (e5-384): 600 of 5,000 (20.0/s, 0:03:40 left)"


def test_reading_for_names_and_for_claims_are_stages_of_their_own():
    assert [stage_of(text) for text in ("a/b.md", "names (a/b.md)", "claims (a/b.md)", "vectors (e5-384)")] == [
        "documents",
        "names",
        "claims",
        "vectors (e5-384)",
    ]


def test_no_rate_promises_no_end():
    now, said = [0.0], []
    report = Lines(said.append, lambda: now[0])
    report(0, 10, "a.md")
    now[0] += EVERY_S
    report(0, 10, "a.md")
    assert said == ["documents: 0 of 10 (0.0/s)"]
