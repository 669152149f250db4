"""One design, written in every markup: the same relations, each quoted where it stands."""

from __future__ import annotations

import io
import pickle
import re

import pytest

from designed.extractors.documents import MARKUPS
from designed.pipeline import designed
from designed.place import is_verbatim
from knowledge.texts.docx import READER as DOCX
from knowledge.texts.html import READER as HTML
from knowledge.texts.pdf import READER as PDF
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins

READERS = load_plugins("designed.readers", "READER")
NAMES = """entities:
  - {name: ward, aliases: [Ward Service, 병동 서비스]}
  - {name: bed, aliases: [Bed Service, 병상 서비스]}
  - {name: billing, aliases: [Billing Service, 수납 서비스]}
  - {name: pharmacy, aliases: [Pharmacy Service, 약제 서비스]}
  - {name: insurance, aliases: [Insurance Gateway]}
  - {name: ward-db, kind: database}
  - {name: patient.admitted, kind: topic}
"""
# What each of the following says.
STATED = {
    ("ward", "CALLS", "bed"),
    ("ward", "PUBLISHES", "patient.admitted"),
    ("pharmacy", "SUBSCRIBES", "patient.admitted"),
    ("ward", "CALLS", "ward-db"),
    ("billing", "CALLS", "insurance"),
    ("pharmacy", "CALLS", "billing"),
}

RST = """==========
Admissions
==========

.. comment: the Billing Service calls the Bed Service.

Ward Service
============

The ward service calls the
:ref:`Bed Service <bed>` over gRPC.

* Publishes ``patient.admitted``
  when a patient is taken in.
* Stores stays in **ward-db**.

+------------------+---------------------------+
| Service          | Depends on                |
+==================+===========================+
| Billing Service  | Insurance                 |
|                  | Gateway                   |
+------------------+---------------------------+

병동에서 입원이 끝나면 *약제 서비스* 가 ``patient.admitted`` 이벤트를 구독한다.

.. mermaid::
   :align: center

   flowchart LR
     pharmacy --> billing
"""
ADOC = """= Admissions
:toc:

// The Billing Service calls the Bed Service.

== Ward Service

The ward service calls the
<<bed,Bed Service>> over gRPC.

* Publishes `patient.admitted`
when a patient is taken in.
* Stores stays in *ward-db*.

.Who needs whom
[cols="1,2",options="header"]
|===
|Service |Depends on

|Billing Service
|Insurance
Gateway
|===

병동에서 입원이 끝나면 _약제 서비스_ 가 `patient.admitted` 이벤트를 구독한다.

[mermaid]
....
flowchart LR
  pharmacy --> billing
....
"""
PAGE = """<html><head><title>Admissions</title></head><body>
<h1>Admissions</h1>
<!-- The Billing Service calls the Bed Service. -->
<h2>Ward Service</h2>
<p>The ward service calls the
   <a href="#bed">Bed Service</a> over gRPC.</p>
<ul>
  <li>Publishes <code>patient.admitted</code> when a patient is taken in.</li>
  <li>Stores stays in <b>ward-db</b>.</li>
</ul>
<table>
  <thead><tr>
    <th>Service</th>
    <th>Depends on</th>
  </tr></thead>
  <tr>
    <td>Billing Service</td>
    <td>Insurance Gateway</td>
  </tr>
</table>
<p>병동에서 입원이 끝나면 <em>약제 서비스</em>가 <code>patient.admitted</code> 이벤트를 구독한다.</p>
<pre><code class="language-mermaid">flowchart LR
  pharmacy --&gt; billing
</code></pre>
</body></html>
"""
SHEET = """Admissions
1 Ward Service
The ward service calls the Bed Service over gRPC. It is asked whenever a patient is moved from one
room to another.
• Publishes patient.admitted when a patient is taken in.
• Stores stays in ward-db.
2 Others
The Billing Service calls the
Insurance Gateway.
The Pharmacy Service subscribes to patient.admitted and calls the Billing Service.
"""


def word() -> str:
    from docx import Document

    document = Document()
    document.add_heading("Admissions", 0)
    document.add_heading("Ward Service", 1)
    document.add_paragraph("The ward service calls the Bed Service over gRPC.")
    document.add_paragraph("Publishes patient.admitted when a patient is taken in.", style="List Bullet")
    document.add_paragraph("Stores stays in ward-db.", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for row, cells in zip(
        table.rows, (("Service", "Depends on"), ("Billing Service", "Insurance Gateway")), strict=True
    ):
        for cell, content in zip(row.cells, cells, strict=True):
            cell.text = content
    document.add_paragraph("약제 서비스는 patient.admitted 이벤트를 구독하고 수납 서비스를 호출한다.")
    buffer = io.BytesIO()
    document.save(buffer)
    return DOCX.read(buffer.getvalue()).text


def pdf(text: str) -> bytes:
    """A page with one line of text under another, in the smallest PDF that holds one."""
    drawn = "".join(
        f"({line.replace('(', chr(92) + '(').replace('•', chr(92) + '225')}) Tj T* " for line in text.splitlines()
    )
    content = f"BT /F 10 Tf 12 TL 40 780 Td {drawn}ET".encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(out),
    )


def claims(body: str, suffix: str):
    texts = [
        SourceText(DocumentRef("names", "names", "entities.yaml", "1"), NAMES, ".yaml", "entities.yaml"),
        SourceText(DocumentRef("doc", "doc", f"doc{suffix}", "1"), body, suffix, f"doc{suffix}"),
    ]
    return [claim for _, _, claim in designed(texts, READERS).claims]


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".rst", lambda: RST),
        (".adoc", lambda: ADOC),
        (".html", lambda: HTML.read(PAGE.encode()).text),
        (".docx", word),
        (".html", lambda: HTML.read(re.sub(r"\s*\n\s*(?!pharmacy -)", " ", PAGE).encode()).text),
        (".pdf", lambda: PDF.read(pdf(SHEET)).text),
    ],
    ids=["restructuredtext", "asciidoc", "html", "word", "html-in-one-line", "pdf"],
)
def test_every_markup_says_the_same(suffix: str, text) -> None:
    body = text()
    found = claims(body, suffix)
    assert {(c.source, c.relation, c.target) for c in found} == STATED
    for claim in found:
        assert is_verbatim(body, claim)


def test_every_markup_has_its_reader() -> None:
    assert set(MARKUPS) <= set(READERS)


def test_readers_can_go_to_other_processes() -> None:
    assert set(pickle.loads(pickle.dumps(READERS))) == set(READERS)  # noqa: S301  # our own


@pytest.mark.parametrize("name", sorted(MARKUPS))
def test_no_text_breaks_a_parser(name: str) -> None:
    suffixes, parser = MARKUPS[name]
    for text in (
        "",
        "\n",
        "|",
        "|===",
        "+--+\n|",
        "== ==\n",
        ".. \n",
        "::\n\n  x",
        "* " * 60,
        "  " * 50 + "x",
        "[source",
        "a::\n",
        "=====\nx\n=====",
        "----",
        "```",
        "\x0b\n\x0c",
        "| a |\n\n| b |",
    ):
        document = parser(text)
        assert all(0 <= b.start <= b.end <= len(text) for b in document.blocks), (name, text)
        for block in document.blocks:
            document.flat(block.start, block.end)
            [document.row(row) for row in block.rows]


def test_blocks_of_a_page_that_share_a_line_stay_blocks() -> None:
    page = "<html><body><h1>Billing</h1><p>The billing service calls the ledger service</p><p>It is old</p><ul><li>one</li><li>two</li></ul></body></html>"
    lines = [line.strip() for line in HTML.read(page.encode()).text.split("\n") if line.strip()]
    assert lines == ["# Billing", "The billing service calls the ledger service", "It is old", "- one", "- two"]
