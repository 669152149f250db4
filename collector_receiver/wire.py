"""OTLP's attributes, as an Arrow decoder of what the log keeps of them.

No object per attribute is ever made: `ptars` turns many serialized messages into Arrow columns at once. Two things differ from the published `.proto` on
purpose, and both are legal readings of the same bytes:

- texts are declared as bytes, because a strict decoder refuses all of them for one text that is no UTF-8;
- arrays and maps stay serialized (`bytes`), so that no depth of what a sender nests costs more memory than its bytes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import ptars
from google.protobuf import descriptor_pb2, descriptor_pool

_Field = descriptor_pb2.FieldDescriptorProto
_BYTES: Final = _Field.TYPE_BYTES
PACKAGE: Final = "nexus.otlp"

# message -> [(name, number, type)]; a type that is a text names another message.
# Numbers: opentelemetry-proto 1.x, common/v1/common.proto.
_MESSAGES: Final[dict[str, list[tuple[str, int, Any]]]] = {
    "KeyValue": [("key", 1, _BYTES), ("value", 2, "AnyValue")],
    "AnyValue": [
        ("text", 1, _BYTES),
        ("boolean", 2, _Field.TYPE_BOOL),
        ("integer", 3, _Field.TYPE_INT64),
        ("double", 4, _Field.TYPE_DOUBLE),
        ("array", 5, _BYTES),
        ("map", 6, _BYTES),
        ("bytes", 7, _BYTES),
    ],
}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="nexus/otlp.proto", package=PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name == "AnyValue":
            message.oneof_decl.add(name="value")
        for field_name, number, kind in fields:
            field = message.field.add(name=field_name, number=number, label=_Field.LABEL_OPTIONAL)
            if isinstance(kind, str):
                field.type, field.type_name = _Field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                field.type = kind
            if name == "AnyValue":
                field.oneof_index = 0
    return file


@cache
def _pools() -> tuple[Any, Any]:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return pool, ptars.HandlerPool([pool.FindFileByName("nexus/otlp.proto")])


@cache
def handler(message: str) -> Any:
    """The Arrow decoder of one projected message. Thread-safe; releases the GIL while it works.

    `list_to_record_batch(list[bytes])` and `array_to_record_batch(pa.BinaryArray)` give one row a message. A message that
    is no protobuf raises ValueError (or another plain exception of the library) for the whole call.
    """
    pool, handlers = _pools()
    return handlers.get_for_message(pool.FindMessageTypeByName(f"{PACKAGE}.{message}"))
