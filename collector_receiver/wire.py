"""OTLP's protobuf messages, projected to what edges need, as Arrow decoders.

No object per span is ever made: `ptars` turns many serialized messages into Arrow columns at once. Two things differ from
the published `.proto` on purpose, and both are legal readings of the same bytes:

- texts are declared as bytes, because a strict decoder refuses a whole request for one text that is no UTF-8;
- spans, resources, attributes and array values stay serialized (`bytes`) where they are listed, and are decoded in a second
  step, the attributes only where their name is kept. So neither depth nor number of what a sender nests can cost more memory
  than the request itself.

Fields that are not named here are skipped, unread.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import ptars
from google.protobuf import descriptor_pb2, descriptor_pool

_Field = descriptor_pb2.FieldDescriptorProto
_BYTES: Final = _Field.TYPE_BYTES
PACKAGE: Final = "nexus.otlp"

# message -> [(name, number, type, repeated)]; a type that is a text names another message.
# Numbers: opentelemetry-proto 1.x, trace/v1/trace.proto, common/v1/common.proto, resource/v1/resource.proto.
_MESSAGES: Final[dict[str, list[tuple[str, int, Any, bool]]]] = {
    "Request": [("resource_spans", 1, "ResourceSpans", True)],
    "ResourceSpans": [("resource", 1, _BYTES, False), ("scope_spans", 2, "ScopeSpans", True)],
    "Resource": [("attributes", 1, _BYTES, True)],
    "ScopeSpans": [("spans", 2, _BYTES, True)],
    # The same in one step, for requests that are small enough to be decoded whatever is in them.
    "SmallRequest": [("resource_spans", 1, "SmallResourceSpans", True)],
    "SmallResourceSpans": [("resource", 1, _BYTES, False), ("scope_spans", 2, "SmallScopeSpans", True)],
    "SmallScopeSpans": [("spans", 2, "Span", True)],
    "Span": [
        ("trace_id", 1, _BYTES, False),
        ("span_id", 2, _BYTES, False),
        ("trace_state", 3, _BYTES, False),
        ("parent_id", 4, _BYTES, False),
        ("name", 5, _BYTES, False),
        ("kind", 6, _Field.TYPE_INT32, False),
        ("start", 7, _Field.TYPE_FIXED64, False),
        ("end", 8, _Field.TYPE_FIXED64, False),
        ("attributes", 9, _BYTES, True),
        ("links", 13, "Link", True),
        ("status", 15, "Status", False),
        ("flags", 16, _Field.TYPE_FIXED32, False),
    ],
    "Link": [("trace_id", 1, _BYTES, False), ("span_id", 2, _BYTES, False)],
    "Status": [("message", 2, _BYTES, False), ("code", 3, _Field.TYPE_INT32, False)],
    "KeyValue": [("key", 1, _BYTES, False), ("value", 2, "AnyValue", False)],
    "AnyValue": [
        ("text", 1, _BYTES, False),
        ("boolean", 2, _Field.TYPE_BOOL, False),
        ("integer", 3, _Field.TYPE_INT64, False),
        ("double", 4, _Field.TYPE_DOUBLE, False),
        ("array", 5, _BYTES, False),
        ("map", 6, _BYTES, False),
        ("bytes", 7, _BYTES, False),
    ],
}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="nexus/otlp.proto", package=PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name == "AnyValue":
            message.oneof_decl.add(name="value")
        for field_name, number, kind, repeated in fields:
            field = message.field.add(name=field_name, number=number, label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL)
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
