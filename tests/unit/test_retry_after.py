"""`Retry-After` as servers write it, and what those who send do with it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
import stamina

from collector_receiver.replay.send import Retry, deliver
from knowledge.embedders._shape import ATTEMPTS, LONGEST_PAUSE_S, EmbedderConfig, HttpEmbedder
from knowledge.embedders.ollama import EMBEDDER as OLLAMA
from knowledge.embedders.openai import EMBEDDER as OPENAI
from nexus.errors import ModelUnavailable
from nexus.model.retry_after import retry_after

NOW = datetime(2026, 1, 15, 13, 0, tzinfo=UTC)
BAD = ["", "soon", "-5", "nan", "inf", "1e3", "0x10", "1 2", "99999999999", "Thu, 99 Jan 2026 13:00:00 GMT", "٣"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("1.5", 1.5),
        ("Thu, 15 Jan 2026 13:01:30 GMT", 90.0),
        ("Thu, 15 Jan 2026 22:01:30 +0900", 90.0),
        ("Thursday, 15-Jan-26 13:01:30 GMT", 90.0),
        ("Thu, 15 Jan 2026 13:01:30 -0000", 90.0),
        ("Thu Jan 15 13:01:30 2026", 90.0),
        ("Thu, 15 Jan 2026 12:00:00 GMT", 0.0),
        (None, None),
        *((value, None) for value in BAD),
    ],
)
def test_a_number_and_a_date_are_read_and_nothing_else(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between attempts, which nobody waits for."""
    made: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", made.append)
    stamina.set_testing(False)
    return made


def refusing(made: HttpEmbedder, status: int, header: str | None, times: int) -> HttpEmbedder:
    """An endpoint that refuses so many times, then answers in both forms."""
    left = [httpx.Response(status, headers={} if header is None else {"Retry-After": header})] * times

    def answer(_: httpx.Request) -> httpx.Response:
        if left:
            return left.pop()
        return httpx.Response(200, json={"embeddings": [[1, 0]], "data": [{"index": 0, "embedding": [1, 0]}]})

    made._client = httpx.Client(base_url="http://test", transport=httpx.MockTransport(answer))
    return made


MAKE: list[Callable[[], HttpEmbedder]] = [
    lambda: OLLAMA.make(EmbedderConfig(dimension=2)),  # type: ignore[return-value, list-item]
    lambda: OPENAI.make(EmbedderConfig(url="http://x/v1", dimension=2)),  # type: ignore[return-value, list-item]
]


@pytest.mark.parametrize("make", MAKE, ids=["ollama", "openai"])
@pytest.mark.parametrize("status", [429, 503])
def test_an_embedder_asks_again_when_the_endpoint_says_and_within_the_bound(
    make: Callable[[], HttpEmbedder], status: int, pauses: list[float]
) -> None:
    refusing(make(), status, "7", 2).passages(["a"])
    assert pauses == [7.0, 7.0]
    pauses.clear()
    refusing(make(), status, "86400", 1).passages(["a"])
    assert pauses == [LONGEST_PAUSE_S]
    pauses.clear()
    late = format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)
    refusing(make(), status, late, 1).passages(["a"])
    assert pauses == [LONGEST_PAUSE_S]


@pytest.mark.parametrize("value", [None, "0", *BAD])
def test_a_bad_value_leaves_the_embedders_own_pause(value: str | None, pauses: list[float]) -> None:
    # A header is ASCII.
    refusing(MAKE[0](), 503, value if value is None or value.isascii() else "three", 1).passages(["a"])
    assert len(pauses) == 1 and 0 < pauses[0] <= 2


def test_a_question_waits_for_no_long_pause(pauses: list[float]) -> None:
    with pytest.raises(ModelUnavailable, match="HTTP 429"):
        refusing(MAKE[0](), 429, "20", 1).question("q")
    assert pauses == []
    assert refusing(MAKE[0](), 429, "1", ATTEMPTS - 1).question("q").tolist() == [1, 0]
    assert pauses == [1.0] * (ATTEMPTS - 1)


def test_a_receiver_that_states_no_pause_at_all_is_not_asked_without_end() -> None:
    class Busy:
        asked = 0

        def send(self, body: bytes) -> tuple[int, str]:
            self.asked += 1
            if self.asked > 1000:
                raise AssertionError("asked without end")
            raise Retry("busy", 0.0)

        def close(self) -> None:
            pass

    with pytest.raises(Exception, match="does not take it"):
        deliver(Busy(), b"", retry_for_s=1.0, sleep=lambda _: None)
