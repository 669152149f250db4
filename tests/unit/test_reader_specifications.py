"""What readers give besides claims: entities, facts, problems; and which reader takes which document."""

from __future__ import annotations

import json

import pytest

from designed.fences import read_fence
from designed.reader import ReadContext, Reading, pick
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

READERS = load_plugins("designed.readers", "READER")


def text(path: str, body: str) -> SourceText:
    return SourceText(
        DocumentRef(path, path, path, ""), body, "." + path.rsplit(".", 1)[-1] if "." in path.lstrip(".") else "", path
    )


def read(path: str, body: str) -> Reading:
    reader = pick(READERS, text(path, body))
    assert reader is not None
    return reader.read(text(path, body), ReadContext(path))


@pytest.mark.parametrize(
    ("path", "body", "reader"),
    [
        ("a/compose.yaml", "services:\n  a: {image: x}\n", "compose"),
        ("stack.yml", "services:\n  a:\n    image: x\n", "compose"),
        ("k.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "kubernetes"),
        ("catalog-info.yaml", "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: a}\n", "backstage"),
        ("x.yaml", "asyncapi: 3.0.0\ninfo: {title: x}\n", "asyncapi"),
        ("x.json", '{"openapi": "3.1.0", "info": {"title": "x"}}', "openapi"),
        ("values-prod.yaml", "web:\n  env:\n    - {name: A, value: b}\n", "helm_values"),
        (".env", "A=b\n", "dotenv"),
        ("settings.json", '{"MailAddress": "mail:25"}', "json_config"),
        ("w.json", '{"model": {"people": []}}', "structurizr_json"),
        ("d.json", '{"type": "excalidraw", "elements": []}', "excalidraw"),
        ("d.xml", "<mxfile></mxfile>", "drawio"),
        ("d.gv", "strict digraph { a -> b }", "dot"),
        ("w.dsl", "workspace {\n}\n", "structurizr_dsl"),
        ("d.plantuml", "@startuml\n@enduml\n", "plantuml"),
        ("d.mmd", "graph TD\n", "mermaid"),
        ("s.proto", "service A {}", "protobuf"),
        ("other.yaml", "a: b\n", None),
        ("other.json", '{"a": 1}', None),
        ("pom.xml", "<project/>", None),
    ],
)
def test_reader_is_chosen_by_suffix_and_content(path: str, body: str, reader: str | None) -> None:
    found = pick(READERS, text(path, body))
    assert (found.name if found else None) == reader


def test_protobuf_reader_gives_services_and_rpcs_and_no_claims() -> None:
    reading = read(
        "l.proto",
        "package a.b;\nservice Ledger {\n  rpc Book(X) returns (Y);\n  // rpc No(X) returns (Y);\n}\nservice Open {",
    )
    assert reading.claims == ()
    assert [(e.name, e.kind, e.aliases) for e in reading.entities] == [
        ("Ledger", "api", ("a.b.Ledger",)),
        ("Open", "api", ("a.b.Open",)),
    ]
    assert [(f.subject, f.key) for f in reading.facts if f.kind == "operation"] == [("a.b.Ledger", "Book")]
    assert [p.line for p in reading.problems] == [6]


def test_openapi_reader_gives_the_api_with_its_hosts_and_operations() -> None:
    body = json.dumps(
        {
            "openapi": "3.0.0",
            "info": {"title": "Shop"},
            "servers": [{"url": "https://shop.example.com"}],
            "paths": {"/a": {"get": {}, "x-a": {}}},
        },
        indent=1,
    )
    reading = read("shop.json", body)
    assert [(e.name, e.kind, e.aliases, e.declares) for e in reading.entities] == [
        ("Shop", "api", ("shop.example.com",), True)
    ]
    assert [f.key for f in reading.facts if f.kind == "operation"] == ["GET /a"]


def test_compose_reader_declares_services_with_their_kind_and_image() -> None:
    reading = read(
        "compose.yaml",
        "services:\n  db:\n    image: postgres:16\n    hostname: books\n  bus: {image: rabbitmq}\n  app: {build: .}\n",
    )
    assert [(e.name, e.kind, e.aliases) for e in reading.entities] == [
        ("db", "database", ("books",)),
        ("bus", "topic", ()),
        ("app", "service", ()),
    ]


def test_fence_lines_count_from_the_documents_start() -> None:
    reading = read_fence("Mermaid", "graph LR\n  a --> b", 41, ReadContext("doc.md"), column_offset=4)
    assert reading is not None
    place = reading.claims[0].place
    assert (place.lines, place.columns, place.quote) == ((42, 42), (7, 13), "a --> b")
    assert read_fence("python", "a --> b", 1, ReadContext()) is None


def test_statement_over_several_lines_of_an_indented_fence_quotes_its_first() -> None:
    reading = read_fence("mermaid", "graph LR\na & b -->\nc", 10, ReadContext(), column_offset=2)
    assert reading is not None
    assert {(c.place.lines, c.place.quote) for c in reading.claims} == {((11, 11), "a & b -->")}


@pytest.mark.parametrize(
    ("path", "body", "line"),
    [
        ("d.drawio", "<mxfile>\n<diagram>\n<oops", 3),
        ("d.drawio", '<!DOCTYPE a [<!ENTITY b "c">]>\n<mxfile/>', 1),
        ("d.drawio", "<mxfile>\n<diagram>bm90IGRlZmxhdGU=</diagram></mxfile>", 2),
        ("k.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a\nspec: }\n", 4),
        ("d.dsl", 'workspace {\n  model {\n    a = container "A"\n', 4),
        ("d.puml", "@startuml\n[a] --> [b]\n", 1),
        ("d.dot", "digraph {\n a -> b\n", 3),
        ("d.mmd", "flowchart LR\n  a --> b\n  c[open --> d\n", 3),
        ("x.yaml", "asyncapi: 3.0.0\nchannels: {}\n", 1),
    ],
)
def test_broken_documents_give_problems_with_lines(path: str, body: str, line: int) -> None:
    assert line in [p.line for p in read(path, body).problems]


def test_broken_yaml_document_keeps_the_others() -> None:
    good = "apiVersion: v1\nkind: Service\nmetadata: {name: %s}\n"
    reading = read("k.yaml", good % "a" + "---\nkind: Service\n  x: [\n---\n" + good % "b")
    assert [e.name for e in reading.entities] == ["a", "b"]
    assert len(reading.problems) == 1


def test_more_arrows_than_anyone_draws_are_a_problem_and_not_claims() -> None:
    side = " & ".join(f"n{i}" for i in range(60))
    reading = read("d.mmd", f"graph TD\n{side} --> {side}\na --> b\n")
    assert [(c.source.name, c.target.name) for c in reading.claims] == [("a", "b")]
    assert [p.line for p in reading.problems] == [2]


def test_included_files_outside_the_root_are_not_asked_for() -> None:
    asked: list[str] = []

    def file(path: str) -> str | None:
        asked.append(path)
        return None

    for path, body in (
        (
            "a/d.puml",
            "@startuml\n!include ../../etc/passwd\n!include /etc/passwd\n!include b/c.puml\n!include https://example.org/x\n@enduml",
        ),
        ("a/w.dsl", "workspace {\n!include ../../../etc/passwd\n!include b.dsl\n}"),
    ):
        reader = pick(READERS, text(path, body))
        assert reader is not None
        reader.read(text(path, body), ReadContext(path, file))
    assert asked == ["a/b/c.puml", "a/b.dsl"]
