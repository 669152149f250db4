"""`make demo`: start everything, feed it, show the drift and an answer, leave the pages up until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import load

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "examples" / "shop" / "docs"
NEXUS = Path(sys.executable).parent / "nexus"
START_TIMEOUT_S = 600.0
TELL_S = 5.0
QUESTION = "Why does checkout call fx?"


def request(url: str, body: dict[str, object] | None = None, timeout: float = 600.0) -> dict[str, object]:
    """JSON from the API; POST where there is a body."""
    data = json.dumps(body).encode() if body is not None else None
    message = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(message, timeout=timeout) as response:
        found: dict[str, object] = json.load(response)
        return found


def wait_ready(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Until `/readyz` answers; the server's own message says why where it does not come up."""
    began, told = time.monotonic(), False
    deadline = began + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            print(log.read_text(encoding="utf-8", errors="replace"), file=sys.stderr)
            sys.exit(server.returncode)
        try:
            request(f"{url}/readyz", timeout=2.0)
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
        if not told and time.monotonic() - began > TELL_S:
            told = True
            print("  still starting: the first time on a machine code is compiled and a database made", flush=True)
    sys.exit("nexus did not become ready in time")


def say(text: str) -> None:
    """A heading of the demo's own."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def feed(args: argparse.Namespace) -> None:
    """Documents and traces in, the first time only: the data stay, and a second demo shows what is there."""
    say(f"1. Documents: {DOCS.relative_to(ROOT)}")
    result = request(f"http://{args.http}/ingest", {"path": str(DOCS)})
    # The service may have read them at its start already: what is there counts, not what this call added.
    passages = request(f"http://{args.http}/status")["documents"]["passages"]
    counts = {
        "documents": result["documents"],
        "passages": passages,
        **{key: result[key] for key in ("claims", "edges", "failed")},
    }
    print("  " + ", ".join(f"{key} {count}" for key, count in counts.items()))
    marker = args.data / "demo-load-sent"
    if marker.exists():
        say("2. Traces: already there from an earlier demo; a few more of today")
        days = 1
    else:
        say(f"2. Traces: {args.days} days of orders, sent with the OpenTelemetry SDK to {args.otlp_grpc}")
        days = args.days
    began = time.monotonic()
    orders = load.send(args.otlp_grpc, days, args.orders_per_day, seed=time.time_ns() % 10_000, progress=show_progress)
    marker.touch()
    print(f"  {orders} orders in {time.monotonic() - began:.0f} s")
    result = request(f"http://{args.http}/otel/aggregate", {"settle": True})
    print(
        "  "
        + ", ".join(
            f"{key} {result.get(key)}" for key in ("edges", "services", "windows_replaced", "duplicates", "rejected")
        )
    )


def show_progress(done: int, total: int) -> None:
    """One line that moves in a terminal; a few lines elsewhere."""
    if sys.stdout.isatty():
        print(f"\r  day {done} of {total}", end="\n" if done == total else "", flush=True)
    elif done == total or done % 10 == 0:
        print(f"  day {done} of {total}", flush=True)


def show(args: argparse.Namespace) -> None:
    """The drift report as a table, and one answer."""
    say("3. Drift: what the documents say, and what the traces show")
    request(f"http://{args.http}/diff/runs", {})
    code = subprocess.run([str(NEXUS), "diff", "--data", str(args.data)], check=False).returncode
    if code not in (0, 1):
        sys.exit(f"nexus diff failed with exit code {code}")
    say(f"4. A question: {QUESTION}")
    answer = request(f"http://{args.http}/search/answer", {"query": QUESTION})
    print(f"  {answer.get('answer')}\n  confidence {answer.get('confidence')}, narrator {answer.get('narrator')}")
    cited = {citation["marker"]: citation for citation in answer.get("citations") or []}  # type: ignore[attr-defined]
    for marker, citation in sorted(cited.items()):
        print(f"  [{marker}] {citation['kind']} {citation['rid']}{'' if citation['verified'] else '  unverified'}")


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / ".nexus-demo")
    parser.add_argument("--http", default="127.0.0.1:8000")
    parser.add_argument("--otlp-grpc", default="127.0.0.1:4317")
    parser.add_argument("--otlp-http", default="127.0.0.1:4318")
    parser.add_argument("--days", type=int, default=35)
    parser.add_argument("--orders-per-day", type=int, default=300)
    parser.add_argument("--exit", action="store_true", help="Stop after the preparation instead of staying up.")
    args = parser.parse_args()
    # A supervisor's SIGTERM ends the demo as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    command = [
        str(NEXUS),
        "up",
        "--data",
        str(args.data),
        "--http",
        args.http,
        "--otlp-grpc",
        args.otlp_grpc,
        "--otlp-http",
        args.otlp_http,
        "--docs",
        str(DOCS),
    ]
    # The SDK keeps every trace, which the spans do not say by themselves: without this no absence would be decided (drift.md section 3).
    os.environ.setdefault("NEXUS_DIFF__SAMPLING", "none")
    args.data.mkdir(parents=True, exist_ok=True)
    log = args.data / "nexus.log"
    with log.open("wb") as out:
        # A session of its own, so that Ctrl-C reaches the server once, from here, and in order.
        server = subprocess.Popen(command, start_new_session=True, stderr=out)
    try:
        wait_ready(f"http://{args.http}", server, log)
        feed(args)
        show(args)
        print(f"\ndemo ready: http://{args.http}", flush=True)
        if not args.exit:
            print(f"Ctrl-C stops it; the data stay in {args.data}, the log is {log}", flush=True)
            server.wait()
    except KeyboardInterrupt:
        print("\nstopping", flush=True)
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.url}: {error.code} {error.read().decode(errors='replace')}")
    finally:
        if server.poll() is None:
            server.terminate()
            server.wait(60)


if __name__ == "__main__":
    main()
