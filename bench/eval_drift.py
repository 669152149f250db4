"""`make eval-drift`: how often the diff is wrong, on simulated worlds whose truth is known.

    python bench/eval_drift.py [--edges N] [--jobs N] [--only TEXT] [--step 1]

Exit 1 where a rate is over its limit. The limits are those of the design: 1 % false absences per edge-year for daily edges,
5 % for weekly ones at 90 days; for bursts 2 %, of which the design says nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from diff.evaluate import TOGETHER, Scenario, Score, run, scenarios, span, table
from diff.policy import Policy


def play(name: str, first: int, worlds: int, step: int) -> Score:
    """Some worlds of a scenario, in a process of their own."""
    return run(next(s for s in scenarios() if s.name == name), worlds, Policy(), step, first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--edges", type=int, default=0, help="Edges of each scenario (default: as many as its claim needs)."
    )
    parser.add_argument("--only", default="", help="Scenarios whose name has this text.")
    parser.add_argument("--step", type=int, default=1, help="Look every so many days.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="Processes.")
    args = parser.parse_args()
    print(f"daily runs from {span(365)}, policy defaults, a look every {args.step} day(s)\n")
    began, over = time.perf_counter(), []
    wanted = [s for s in scenarios() if args.only in s.name]
    with ProcessPoolExecutor(args.jobs) as pool:
        parts = {
            s.name: [
                pool.submit(play, s.name, first, min(TOGETHER, count - first), args.step)
                for first in range(0, count, TOGETHER)
            ]
            for s in wanted
            for count in [args.edges or s.edges]
        }

        def played() -> Iterator[tuple[Scenario, Score]]:
            for scenario in wanted:
                score = Score()
                for part in parts[scenario.name]:
                    score.add(part.result())
                if scenario.over(score):
                    over.append(scenario.name)
                yield scenario, score

        for line in table(played()):
            print(line, flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s; over a limit: {', '.join(over) or 'none'}")
    sys.exit(bool(over))


if __name__ == "__main__":
    main()
