"""The pure part of rolling up, by itself: CPU seconds of one batch by stage, the best of several rounds. Nothing is received or stored meanwhile, so that it tells small changes.

    python bench/aggregate_compute.py [--spans 20000 500000] [--services 200] [--rounds 7]

A small batch shows what a batch costs whatever its size; the difference to a large one what a span costs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from aggregator.concepts import Infrastructure
from aggregator.delta import difference, unseen
from aggregator.merge import by_minute
from aggregator.observe import observe
from aggregator.prepare import prepare
from aggregator.steps import Rules, steps
from bench.aggregate import Clock, requests
from collector_receiver.log.local import LocalSpanLogWriter
from collector_receiver.log.reader import LocalSpanLogReader
from collector_receiver.otlp import decode_batch
from nexus.model.coded import no_spans
from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC


def received(folder, count, services):
    """About `count` spans as the log gives them."""
    sent, _ = requests(count, services, 0.10, 0.01, 5)
    writer = LocalSpanLogWriter(folder, Clock())
    for part in range(0, len(sent), 64):
        group = sent[part : part + 64]
        done = decode_batch(group, ["default"] * len(group))
        writer.append_raw(done.raw, "otlp", done.rejections)
    writer.close()
    return LocalSpanLogReader(folder, Clock()).read_coded({}, count)[0]


def measured(spans, rules, rounds):
    """CPU seconds by stage; `observe` holds `prepare` and `steps`."""
    best = {}

    def timed(name, work, *given):
        began = time.process_time()
        made = work(*given)
        best[name] = min(best.get(name, float("inf")), time.process_time() - began)
        return made

    for _ in range(rounds):
        new, _ = timed("unseen", unseen, spans, no_spans())
        timed("steps", steps, timed("prepare", prepare, new), rules)
        timed("by_minute", by_minute, timed("difference", difference, timed("observe", observe, new, rules)).rows)
    return best | {"all": sum(best[name] for name in ("unseen", "observe", "difference", "by_minute"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, nargs="+", default=[20_000, 500_000])
    parser.add_argument("--services", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    rules = Rules(infrastructure=Infrastructure(INFRASTRUCTURE_RPC, INFRASTRUCTURE_PATHS))
    for count in args.spans:
        with tempfile.TemporaryDirectory() as folder:
            spans = received(Path(folder), count, args.services)
        stages = measured(spans, rules, args.rounds)
        print(
            f"{spans.height:>9,} spans  {args.services} services  CPU ms: "
            + "  ".join(f"{name} {seconds * 1000:.0f}" for name, seconds in stages.items())
            + f"  ({stages['all'] / spans.height * 1e6:.2f} CPU-s per million)"
        )


if __name__ == "__main__":
    main()
