"""The scanner: labelled set, forms that hide a secret, and default-deny when it fails."""

from __future__ import annotations

import base64
import importlib.util
from pathlib import Path

import pytest

from knowledge.detectors._shape import Detector
from knowledge.scanner import SCANNER_FAILED, folded, scan
from nexus.plugins import load_plugins

DETECTORS = load_plugins("knowledge.detectors", "DETECTOR")
BENCH = Path(__file__).parents[2] / "bench" / "eval_scanner.py"


def kinds(text: str) -> set[str]:
    return {secret.kind for secret in scan(text, DETECTORS)}


def test_the_labelled_set_is_found_and_its_look_alikes_are_not():
    spec = importlib.util.spec_from_file_location("eval_scanner", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table, mistakes = module.measure()
    assert set(table) - {"all"} == {detector.kind for detector in DETECTORS.values()}
    assert table["all"][2] >= 75
    assert min(precision for precision, _, _ in table.values()) >= 0.98, mistakes
    assert min(recall for _, recall, _ in table.values()) >= 0.98, mistakes


def test_offsets_are_of_the_original_text_also_where_it_was_folded():
    text = "번호 ９００１０１－１２３４５６\u200b８ 끝"
    (secret,) = scan(text, DETECTORS)
    assert text[secret.start : secret.end] == "９００１０１－１２３４５６\u200b８"


def test_folding_leaves_plain_text_alone():
    assert folded("plain 한글 text") == ("plain 한글 text", None)


def test_a_failing_detector_quarantines_the_whole_text():
    def broken(text):
        raise RuntimeError
        yield text

    (secret,) = scan("harmless", [Detector("broken", broken)])
    assert (secret.kind, secret.start, secret.end) == (SCANNER_FAILED, 0, 8)


@pytest.mark.parametrize("text", ["4111-1111-1111-1111", "주민번호는900101-1234568이다", "postgres://u:p@h/d"])
def test_secrets_touching_hangul_or_alone_are_found(text):
    assert kinds(text)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda key: key[:9] + "\u202e" + key[9:],
        lambda key: "".join(chr(0xFEE0 + ord(letter)) for letter in key),
        lambda key: "a = '" + key[:9] + "' +\n    '" + key[9:] + "'",
        lambda key: key[:9] + "\\\n" + key[9:],
        lambda key: base64.b64encode(f"key id: {key}".encode()).decode(),
    ],
)
def test_a_hidden_secret_is_found_at_its_place(wrap):
    text = "before " + wrap("AKIAQ2W3E4R5T6Y7U2I3") + " after"
    (secret,) = scan(text, DETECTORS)
    assert secret.kind == "aws_key"
    assert text[: secret.start].startswith("before")
    assert text[secret.end :].endswith(" after")
    assert "AKIA" not in text[: secret.start] + text[secret.end :]
