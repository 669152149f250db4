"""How far long work is, on standard error: a bar with rate and time left at a terminal, a line every half minute anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

# done, total, and what is being worked on: `vectors (GENERATION)`, `names (PATH)`, `claims (PATH)`, or the path of a document that is taken in.
Report = Callable[[int, int, str], None]
EVERY_S = 30.0
_PATH = 50


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.0f}/s" if task.speed else "")


def stage_of(text: str) -> str:
    """What is counted: documents that are taken in, read for names, or for claims; or vectors."""
    if text.startswith("vectors ("):
        return text
    return next((stage for stage in ("names", "claims") if text.startswith(f"{stage} (")), "documents")


class Lines:
    """A line for each stage every `EVERY_S`, with the rate and the time left since the stage began."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._stage = ""
        self._begun = self._said = 0.0
        self._first = 0

    def __call__(self, done: int, total: int, text: str) -> None:
        """Note it, and say it where it is time."""
        now, stage = self._clock(), stage_of(text)
        if stage != self._stage:
            self._stage, self._begun, self._said, self._first = stage, now, now, done
            if not total:
                self._write(stage)
        elif now - self._said >= EVERY_S:
            self._said = now
            if not total:
                self._write(stage)
                return
            rate = (done - self._first) / (now - self._begun)
            left = f", {timedelta(seconds=round((total - done) / rate))} left" if rate else ""
            self._write(f"{stage}: {done:,} of {total:,} ({rate:.1f}/s{left})")


@contextmanager
def progress(*, shown: bool) -> Iterator[Report]:
    """What is to be called as the work goes on; without `shown` it says nothing."""
    if not shown:
        yield lambda done, total, text: None  # noqa: ARG005
    elif not sys.stderr.isatty():
        yield Lines(lambda line: print(line, file=sys.stderr, flush=True))
    else:
        with _bar() as bar:
            tasks = {}

            def report(done: int, total: int, text: str) -> None:
                stage = stage_of(text)
                if stage not in tasks:
                    tasks[stage] = bar.add_task(stage, total=total)
                path = text.removeprefix(f"{stage} (").removesuffix(")") if stage in {"names", "claims"} else text
                said = stage if stage == text else f"{stage} {path[-_PATH:]}"
                bar.update(tasks[stage], completed=done, total=total, description=said)

            yield report


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
