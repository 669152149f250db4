"""What a Kubernetes Secret keeps under a name that does not say so: `credentials: YXBwOi4uLg==` in a manifest of `kind: Secret`."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span, is_given, places

_ENTRY = re.compile(r"^[ \t]+[\w.-]{1,60}:[ \t]*[\"']?(?P<value>[!-~]{8,400}?)[\"']?[ \t\r]*$", re.MULTILINE)
_DATA = re.compile(r"^(?P<name>data|stringData):[ \t]*\n(?P<entries>(?:[ \t]+.*(?:\n|$))+)", re.MULTILINE)
_END = re.compile(r"^---", re.MULTILINE)
# Names of users, hosts and data bases stand there too; with a digit and a sign it is none of them.
_SIGNED = re.compile(r"(?=.*[A-Za-z])(?=.*\d)(?=.*[!@#$%^&*?])[ -~]{8,}")
_REACH = 8000


def _plain(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode("utf-8")
    except ValueError:
        return ""


def _find(text: str) -> Iterator[Span]:
    done = 0
    for at in places(text, ("kind: Secret\n",)):
        if at < done:
            continue
        # The entries stand before the kind or behind it, in one document of the file.
        start = max(text.rfind("\n---", 0, at), at - _REACH, 0)
        last = _END.search(text, at)
        end = min(last.start() if last else len(text), at + _REACH)
        start, done = max(start, done), end
        for data in _DATA.finditer(text, start, end):
            for entry in _ENTRY.finditer(text, *data.span("entries")):
                value = entry["value"] if data["name"] == "stringData" else _plain(entry["value"])
                if _SIGNED.fullmatch(value.strip()) and is_given(value.strip()):
                    yield entry.span("value")


DETECTOR = Detector("password", _find, generic=True)
