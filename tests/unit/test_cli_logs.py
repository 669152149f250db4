"""What a command prints is its output: logs never mix with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
import structlog

from nexus.cli import main


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_information_is_not_logged_and_warnings_go_to_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["nexus", "check"])
    with pytest.raises(SystemExit):
        main()
    capsys.readouterr()
    structlog.get_logger("nexus.any").info("quiet")
    structlog.get_logger("nexus.any").warning("heard")
    out, err = capsys.readouterr()
    assert out == ""
    assert "heard" in err
    assert "quiet" not in err
