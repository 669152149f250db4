"""The log on Kafka is said in one word, needs its brokers, and hides its password."""

from __future__ import annotations

import pytest

from nexus.errors import ConfigError
from nexus.settings.load import effective, load_settings
from nexus.wiring.kafka import kafka_options, needed_retention

BROKERS = "NEXUS_LOG__KAFKA__BROKERS"


def test_one_word_or_the_long_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BROKERS, "kafka:9092")
    monkeypatch.setenv("NEXUS_LOG", "kafka")
    short = load_settings()
    monkeypatch.delenv("NEXUS_LOG")
    monkeypatch.setenv("NEXUS_LOG__BACKEND", "kafka")
    assert short == load_settings()
    assert kafka_options(short).brokers == "kafka:9092"


def test_brokers_and_a_user_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_LOG", "kafka")
    with pytest.raises(ConfigError, match=BROKERS):
        load_settings()
    monkeypatch.setenv(BROKERS, "kafka:9092")
    monkeypatch.setenv("NEXUS_LOG__KAFKA__SECURITY", "sasl_ssl")
    with pytest.raises(ConfigError, match="USERNAME"):
        load_settings()


def test_the_password_is_hidden_and_handed_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        BROKERS: "kafka:9093",
        "NEXUS_LOG": "kafka",
        "NEXUS_LOG__KAFKA__SECURITY": "sasl_ssl",
        "NEXUS_LOG__KAFKA__USERNAME": "nexus",
        "NEXUS_LOG__KAFKA__PASSWORD": "hush",
        "NEXUS_LOG__KAFKA__TLS_CA": "/ca.pem",
    }.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert "hush" not in str(effective(settings))
    options = kafka_options(settings)
    assert "hush" not in repr(options)
    client = options.client(group_id="g")
    assert (
        client["sasl.password"],
        client["sasl.mechanism"],
        client["security.protocol"],
        client["ssl.ca.location"],
        client["group.id"],
    ) == ("hush", "SCRAM-SHA-512", "sasl_ssl", "/ca.pem", "g")


def test_what_the_topic_has_to_keep_follows_from_the_horizons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_PAIRING__LINK_HORIZON", "3600")
    monkeypatch.setenv("NEXUS_AGGREGATE__SETTLE", "600")
    assert needed_retention(load_settings()).total_seconds() == 4200
