"""The client reads what a real Tempo 3 answered, and the fake one refuses what the real one refused, in its words (tests/recordings)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import urllib3

from collector_receiver.otlp import decode
from collector_receiver.sources.tempo.answers import BadAnswer, search_answer, trace_answer
from collector_receiver.sources.tempo.client import Access, Failed, Refused, TempoClient
from collector_receiver.sources.tempo.limits import LimitTooLarge, RangeTooLong, TooRecent, refusal
from nexus.testing.fake_tempo import Answer, FakeTempo
from nexus.testing.tempo_traces import stored_trace

FOLDER = Path(__file__).parents[1] / "recordings" / "tempo"
INDEX: dict[str, Any] = json.loads((FOLDER / "index.json").read_text())
CALLS: dict[str, Any] = {call["name"]: call for call in INDEX["calls"]}
SEARCHES = sorted(
    name for name, call in CALLS.items() if name.startswith("search-") and call["response"]["status"] == 200
)
KNOWN = bytes.fromhex("38b4e652e44da7f2370d9e260e271365")
# The server's clock when it answered: the end that it cut to, and the 30 s that it cut.
NOW = 1795998984 + 30


def recorded(name: str) -> bytes:
    return (FOLDER / CALLS[name]["response"]["body_file"]).read_bytes()


def answer(name: str) -> Answer:
    response = CALLS[name]["response"]
    return Answer(response["status"], recorded(name), response["headers"].get("content-type", ""))


@pytest.fixture
def tempo() -> Iterator[FakeTempo]:
    with FakeTempo(now=lambda: NOW) as found:
        yield found


@pytest.fixture
def client(tempo: FakeTempo) -> Iterator[TempoClient]:
    client = TempoClient(Access(tempo.url, attempts=1))
    yield client
    client.close()


@pytest.mark.parametrize("name", SEARCHES)
def test_every_recorded_search_is_read(name: str, tempo: FakeTempo, client: TempoClient) -> None:
    tempo.fail("/api/search", answer(name))
    found = client.search("{}", NOW - 400, NOW - 30, 100)
    listed = json.loads(recorded(name))["traces"]
    assert [trace.trace_id.hex().lstrip("0") for trace in found.found] == [item["traceID"] for item in listed]
    assert all(len(trace.trace_id) == 16 and trace.fingerprint > 0 for trace in found.found)
    assert found.jobs_missing == 0


def test_trimmed_ids_are_the_ids_that_were_sent() -> None:
    found = search_answer(recorded("search-limit-100")).found
    assert {trace.trace_id.hex() for trace in found} == {*INDEX["trace_ids"], INDEX["large_trace"]}


@pytest.mark.parametrize(
    "name",
    [
        "trace-v2-protobuf",
        "trace-v2-json",
        "trace-v2-padded-id",
        "trace-v2-trimmed-id",
        "trace-v2-narrow-range",
        "trace-v2-filtered",
    ],
)
def test_recorded_traces_of_v2_are_read(name: str, tempo: FakeTempo, client: TempoClient) -> None:
    tempo.fail("/api/v2/traces", answer(name))
    found = client.trace(KNOWN)
    spans, rejections = decode(found.body, "default")
    # A trace cut by a query is called PARTIAL.
    is_cut = name == "trace-v2-filtered"
    assert (spans.height, rejections, found.partial) == (6 if is_cut else 7, [], is_cut)
    assert spans["service_name"].unique().sort().to_list() == ["checkout", "payment", "web"]


def test_json_and_protobuf_of_one_trace_are_the_same_spans(tempo: FakeTempo, client: TempoClient) -> None:
    frames = []
    for name in ("trace-v2-protobuf", "trace-v2-json"):
        tempo.fail("/api/v2/traces", answer(name))
        frames.append(decode(client.trace(KNOWN).body, "default")[0])
    assert frames[0].equals(frames[1])


@pytest.mark.parametrize("name", ["trace-v1-protobuf", "trace-v1-json"])
def test_a_server_without_v2_is_asked_by_v1(name: str, tempo: FakeTempo, client: TempoClient) -> None:
    tempo.rules.has_v2 = False
    tempo.fail("/api/traces", answer(name))
    assert decode(client.trace(KNOWN).body, "default")[0].height == 7
    assert client.has_v2 is False


def test_a_trace_that_does_not_exist_is_an_empty_answer_in_both_versions(tempo: FakeTempo, client: TempoClient) -> None:
    tempo.fail("/api/v2/traces", answer("trace-v2-unknown"))
    assert client.trace(b"\xab" * 16).body == b""
    tempo.rules.has_v2 = False
    tempo.fail("/api/traces", answer("trace-v1-unknown"))
    assert client.trace(b"\xab" * 16).body == b""


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in CALLS
        if name.startswith("error-")
        or name in {"trace-v2-bad-id", "trace-v1-unknown", "trace-v2-unknown", "not-found-path"}
    ],
)
def test_the_fake_refuses_like_the_real_one(name: str, tempo: FakeTempo) -> None:
    call = CALLS[name]
    query = urlencode(call["request"]["params"])
    response = urllib3.request(
        "GET", tempo.url + call["request"]["path"] + (f"?{query}" if query else ""), headers=call["request"]["headers"]
    )
    assert response.status == call["response"]["status"]
    if name == "error-bad-traceql":
        assert response.data.startswith(b"invalid TraceQL query: parse error")
    else:
        assert response.data == recorded(name)


def test_the_fake_trims_and_truncates_like_the_real_one(tempo: FakeTempo) -> None:
    tempo.add(*(stored_trace(bytes([0, 10, n]) + bytes(13), (NOW - 100) * 10**9) for n in range(61)))
    response = urllib3.request("GET", f"{tempo.url}/api/search?start={NOW - 400}&end={NOW}").json()
    assert len(response["traces"]) == len(json.loads(recorded("search-default-limit"))["traces"]) == 20
    assert all(item["traceID"].startswith("a") for item in response["traces"])


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("error-range-too-long", RangeTooLong(168 * 3600)),
        ("error-limit-too-large", LimitTooLarge(262144)),
        ("error-end-before-start", TooRecent(1795998588)),
        ("error-bad-traceql", None),
        ("error-spss", None),
    ],
)
def test_limits_are_recognised_from_recorded_refusals(
    name: str, limit: object, tempo: FakeTempo, client: TempoClient
) -> None:
    assert refusal(recorded(name).decode()) == limit
    client.has_most_recent = False
    tempo.fail("/api/search", answer(name))
    with pytest.raises(Refused) as refused:
        client.search("{}", 1, 2, 3)
    assert (refused.value.status, refused.value.limit) == (400, limit)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"traces": 1}',
        b'{"traces": [{}]}',
        b'{"traces": [{"traceID": "zz"}]}',
        b'{"traces": ["x"]}',
    ],
)
def test_other_answers_to_a_search_are_refused(content: bytes) -> None:
    with pytest.raises(BadAnswer):
        search_answer(content)


@pytest.mark.parametrize("cut", [1, 2, 10, 700, 1559])
def test_a_trace_cut_anywhere_is_never_taken_as_whole(cut: int) -> None:
    whole = recorded("trace-v2-protobuf")
    with pytest.raises(BadAnswer):
        trace_answer(whole[:-cut])


def test_a_redirect_is_not_followed_with_the_credentials(tempo: FakeTempo) -> None:
    tempo.fail("/api/search", Answer(302, headers={"location": "http://127.0.0.1:1/"}))
    client = TempoClient(Access(tempo.url, token="secret", attempts=1))
    with pytest.raises((Refused, Failed)):
        client.search("{}", 1, 2, 3)
    client.close()
