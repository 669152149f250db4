"""Tokens at the door: who may send, for which tenant, and what an outage of the database changes."""

from __future__ import annotations

import pytest

from collector_receiver.gate import FRESH_S, STALE_S, Gate
from nexus.errors import Forbidden, StoreUnavailable, Unauthenticated
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal


class Directory:
    """Tokens, and a clock."""

    def __init__(self) -> None:
        self.known = {
            "good": Principal("collector", "acme", Classification.INTERNAL, frozenset({Capability.INGEST})),
            "reader": Principal("r", "acme", Classification.INTERNAL, frozenset({Capability.READ})),
        }
        self.away = False
        self.asked = 0
        self.now = 100.0

    def find(self, token: str) -> Principal | None:
        self.asked += 1
        if self.away:
            raise StoreUnavailable("away")
        return self.known.get(token)

    def gate(self) -> Gate:
        return Gate(self.find, lambda: self.now)


def test_without_tokens_everybody_is_the_default_tenant():
    assert Gate(None).remembered(None) == "default"
    assert Gate(None).tenant(None) == "default"


@pytest.mark.parametrize("value", [None, "", "good", "Basic good", "Bearer", "Bearer  "])
def test_what_is_no_bearer_token_is_refused_without_a_look_up(value):
    directory = Directory()
    for ask in (directory.gate().remembered, directory.gate().tenant):
        with pytest.raises(Unauthenticated):
            ask(value)
    assert directory.asked == 0


def test_the_tenant_is_the_tokens_and_is_remembered_for_a_while():
    directory = Directory()
    gate = directory.gate()
    assert gate.remembered("Bearer good") is None
    assert gate.tenant("bearer good") == "acme"
    assert gate.remembered("Bearer good") == "acme"
    directory.now += FRESH_S + 1
    assert gate.remembered("Bearer good") is None


def test_unknown_revoked_and_powerless_tokens():
    directory = Directory()
    gate = directory.gate()
    with pytest.raises(Unauthenticated):
        gate.tenant("Bearer other")
    with pytest.raises(Forbidden):
        gate.tenant("Bearer reader")
    gate.tenant("Bearer good")
    del directory.known["good"]
    directory.now += FRESH_S + 1
    with pytest.raises(Unauthenticated):
        gate.tenant("Bearer good")
    # Made a moment later, it works at once.
    directory.known["other"] = Principal("o", "b", Classification.INTERNAL, frozenset({Capability.INGEST}))
    assert gate.tenant("Bearer other") == "b"


def test_while_the_database_is_away_known_senders_go_on_and_others_are_asked_to_retry():
    directory = Directory()
    gate = directory.gate()
    gate.tenant("Bearer good")
    directory.away = True
    directory.now += STALE_S - 1
    assert gate.tenant("Bearer good") == "acme"
    with pytest.raises(StoreUnavailable):
        gate.tenant("Bearer other")
    directory.now += 2
    with pytest.raises(StoreUnavailable):
        gate.tenant("Bearer good")
