"""Protocol Buffers: services and the rpcs that they provide. A proto tells no caller, so there are no claims."""

from __future__ import annotations

import re
from typing import Final

from designed.place import Lines
from designed.reader import Fact, Format, RawEntity, ReadContext, Reader, Reading
from nexus.model.document import Problem, SourceText

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PACKAGE: Final = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_SERVICE: Final = re.compile(r"\bservice\s+(\w+)\s*\{")
_RPC: Final = re.compile(r"\brpc\s+(\w+)\s*\(\s*(?:stream\s+)?[\w.]*\s*\)\s*returns\s*\(\s*(?:stream\s+)?[\w.]*\s*\)")


def accepts(text: SourceText) -> bool:
    """Files named .proto."""
    return text.suffix == ".proto"


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """The services of a file; `first_line` and `column_offset` are for the other block readers' sake and must be 1 and 0."""
    path = context.path if context else ""
    lines = Lines(body)
    # Comments become spaces, so that offsets stay.
    code = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), body)
    package = _PACKAGE.search(code)
    prefix = f"{package.group(1)}." if package else ""
    entities: list[RawEntity] = []
    facts: list[Fact] = []
    problems: list[Problem] = []
    closed = True
    for service in _SERVICE.finditer(code):
        if not closed:
            break
        name = service.group(1)
        end = _closing(code, service.end())
        if end < 0:
            problems.append(
                Problem(path, lines.line(service.start()) + first_line - 1, f"service {name} is not closed")
            )
            end = len(code)
            closed = False
        place = lines.place(service.start(), service.end(1))
        entities.append(RawEntity(name, "api", place, (prefix + name,) if prefix else (), declares=True))
        facts.append(Fact("provides", "", prefix + name, "", place, {"format": "protobuf"}))
        facts += [
            Fact(
                "operation",
                prefix + name,
                rpc.group(1),
                "",
                lines.place(rpc.start(), rpc.end()),
                {"format": "protobuf"},
            )
            for rpc in _RPC.finditer(code, service.end(), end)
        ]
    del column_offset
    return Reading((), tuple(entities), tuple(facts), tuple(problems))


def _closing(code: str, position: int) -> int:
    depth = 1
    for match in re.compile(r"[{}]").finditer(code, position):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return match.start()
    return -1


def read(text: SourceText, context: ReadContext) -> Reading:
    """The whole file."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("protobuf", accepts, read)
