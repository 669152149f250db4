"""`make eval-drift`: how often the diff is wrong, on simulated worlds whose truth is known.

    python bench/eval_drift.py [--edges 50] [--only TEXT] [--step 1]

Exit 1 where a rate is over its limit. The limits are those of the design: 1 % false absences per edge-year for daily edges,
5 % for weekly ones at 90 days; for bursts 2 %, of which the design says nothing.
"""

from __future__ import annotations

import argparse
import sys
import time

from diff.evaluate import run, scenarios, span, table
from diff.policy import Policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=50, help="Edges of each scenario; more of them make rates finer and take longer.")
    parser.add_argument("--only", default="", help="Scenarios whose name has this text.")
    parser.add_argument("--step", type=int, default=1, help="Look every so many days.")
    args = parser.parse_args()
    print(f"daily runs from {span(365)}, policy defaults, a look every {args.step} day(s)\n")
    began, over = time.perf_counter(), []

    def played():
        for scenario in scenarios():
            if args.only in scenario.name:
                score = run(scenario, args.edges, Policy(), args.step)
                if scenario.over(score):
                    over.append(scenario.name)
                yield scenario, score

    for line in table(played()):
        print(line, flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s; over a limit: {', '.join(over) or 'none'}")
    sys.exit(bool(over))


if __name__ == "__main__":
    main()
