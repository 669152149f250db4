"""How fast Markdown becomes designed edges (`python bench/designed_speed.py [--files 10000] [--megabytes 100] [--workers 2]`).

Writes nothing but a temporary embedded PostgreSQL; prints seconds for the first run, for a second run with nothing changed, and
for one changed document, with the peak memory of this process.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from designed.run import Refresh
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.pool import Database

FILLER = (
    "The team reviewed the roadmap and agreed on the wording of the guide for new contributors. Nothing in this part concerns a dependency.",
    "Each request carries an identifier that support can look up. Keep the identifier when you open a ticket.",
    "| Field | Type | Meaning |\n|---|---|---|\n| id | string | identifier of the record |\n| at | time | when it was written |",
    '```json\n{"id": 17, "state": "open"}\n```',
    "- install the tools\n- run `make test`\n- read the output",
    "배포 전에 점검표를 확인하고 결과를 기록한다. 이 문단은 의존성을 말하지 않는다.",
)


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Generated:
    """Documents made from a seed when they are asked for, so that memory shows the run's and not the input's."""

    def __init__(self, files: int, size: int) -> None:
        self._files, self._size = files, size
        self.changed: set[int] = set()

    def _text(self, number: int) -> str:
        rng = random.Random(number)
        a, b = (f"svc{rng.randrange(400):03d}" for _ in range(2))
        parts = [
            f"# Unit {number}",
            f"The {a}-service calls the {b}-service over gRPC.",
            f"{a}-service는 `{b}.created` 이벤트를 발행한다.",
        ]
        if number in self.changed:
            parts.append(f"The {a}-service calls the new-service.")
        length = sum(map(len, parts))
        while length < self._size:
            part = rng.choice(FILLER)
            parts.append(part)
            length += len(part) + 2
        return "\n\n".join(parts) + "\n"

    def _ref(self, number: int) -> DocumentRef:
        revision = hashlib.sha256(f"{number} {number in self.changed}".encode()).hexdigest()
        return DocumentRef(f"{number:06d}", f"Unit {number}", f"doc{number}.md", revision)

    def documents(self, _tenant: str) -> list[DocumentRef]:
        return [self._ref(number) for number in range(self._files)]

    def texts(self, tenant: str, rids: list[str]) -> Iterator[SourceText]:
        for rid in rids:
            yield SourceText(self._ref(int(rid)), self._text(int(rid)), ".md", f"doc{int(rid)}.md", "default", tenant)

    def passages(self, *_: object) -> list:
        return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    documents = Generated(arguments.files, int(arguments.megabytes * 1_000_000 / arguments.files))
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        url = server.start()
        migrate(url)
        database = Database(url)
        shown = [0.0]

        def progress(done: int, total: int, path: str) -> None:
            if time.perf_counter() - shown[0] > 2:
                shown[0] = time.perf_counter()
                print(f"  {done}/{total} {path}", flush=True)

        control = Refresh(
            database,
            documents,
            load_plugins("designed.readers", "READER"),
            Clock(),
            lambda _tenant: (),
            arguments.workers,
        )
        try:
            for name, change in (("first run", None), ("nothing changed", None), ("one document changed", 5)):
                if change is not None:
                    documents.changed.add(change)
                start = time.perf_counter()
                result = control.refresh("default", progress=progress)
                took = time.perf_counter() - start
                rate = f", {arguments.megabytes / took:.2f} MB/s" if name == "first run" else ""
                print(
                    f"{name}: {took:.2f} s{rate}  documents {result['documents']} claims {result['claims']} edges {result['edges']}"
                )
            used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
            print(f"processor time: {sum(u.ru_utime + u.ru_stime for u in used):.1f} s over all processes")
            own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(f"peak memory: {own:.0f} MB here, {children:.0f} MB in the largest worker")
        finally:
            database.close()
            server.stop()


if __name__ == "__main__":
    main()
