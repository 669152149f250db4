"""The table from errors to OTLP's answers."""

from __future__ import annotations

import json

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from collector_receiver.status import CODES, answer, refusal
from nexus import errors

RETRYABLE_GRPC = {"CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"}


def kinds(root=errors.NexusError):
    below = root.__subclasses__()
    return [leaf for kind in below for leaf in kinds(kind)] if below else [root]


@pytest.mark.parametrize("kind", kinds())
def test_every_error_has_an_answer_that_tells_the_sender_whether_to_retry(kind):
    assert kind in CODES
    refused = answer(kind("why"))
    permanent = issubclass(kind, errors.InputError)
    retry_info = [item for item in refused.status().details if item.Is(RetryInfo.DESCRIPTOR)]
    retried_grpc = refused.code.name in RETRYABLE_GRPC or (
        refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED and bool(retry_info)
    )
    assert retried_grpc == (not permanent)
    assert (refused.http in {429, 502, 503, 504}) == (not permanent)
    assert ("Retry-After" in refused.headers()) == (not permanent)
    assert refused.code not in {grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL}
    assert refused.http != 500
    assert refused.message


def test_an_overload_says_how_long_to_wait():
    refused = answer(errors.Overloaded("full", retry_after=2.5))
    assert refused.headers() == {"Retry-After": "3"}
    [(key, value)] = refused.trailers()
    assert key == "grpc-status-details-bin"
    info = RetryInfo()
    assert Status.FromString(value).details[0].Unpack(info)
    assert (info.retry_delay.seconds, info.retry_delay.nanos) == (2, 500_000_000)


def test_what_a_bug_says_is_not_for_the_sender():
    assert "secret" not in answer(errors.InvariantBroken("secret")).message


def test_bodies_are_a_status_in_either_encoding():
    refused = refusal(415, "no")
    assert Status.FromString(refused.body(json=False)).message == "no"
    assert json.loads(refused.body(json=True)) == {"code": 3, "message": "no"}
