"""Readers of formats: what comes out, on which line, and what is reported."""

from __future__ import annotations

import io

import pytest

from knowledge.front_matter import front_matter, list_value, text_value
from knowledge.texts.docx import READER as DOCX
from knowledge.texts.html import READER as HTML
from knowledge.texts.markdown import READER as MARKDOWN
from knowledge.texts.pdf import READER as PDF
from nexus.errors import MalformedDocument


def test_html_keeps_its_lines_and_leaves_out_what_nobody_sees():
    source = """<html><head><title>T &amp; U</title><style>p {}</style></head>
<body><nav>menu</nav>
<h2>결제 <em>서비스</em></h2>
<p>calls
the &lt;fx&gt; service</p><script>evil()</script>
<p hidden>secret</p><p style="display: none">gone</p>
<ul><li>one</li>
<li>two</li></ul>
<table><tr><th>a</th><th>b</th></tr>
<tr><td>1</td><td>2</td></tr></table>
<pre class="mermaid">
graph TD
  A-->B
</pre>
</body></html>"""
    found = HTML.read(source.encode())
    assert found.title == "T & U"
    lines = found.text.split("\n")
    assert len(lines) == source.count("\n") + 1
    assert lines[2] == "## 결제 서비스"
    assert (lines[3].strip(), lines[4].strip()) == ("calls", "the <fx> service")
    assert [line.strip() for line in lines[6:8]] == ["- one", "- two"]
    assert lines[9].strip().startswith("| 1| 2|") or "1" in lines[9]
    assert lines[10:14] == ["```mermaid", "graph TD", "  A-->B", "```"]
    for word in ("menu", "evil", "secret", "gone", "style"):
        assert word not in found.text


def test_a_half_fence_in_html_swallows_nothing():
    assert "```" not in HTML.read(b"<p>x <pre>code</pre> y</p>\n<h1>H</h1>\n<pre>\nopen").text


def test_word_headings_lists_and_tables():
    from docx import Document

    document = Document()
    document.add_heading("Payments", 1)
    document.add_paragraph("The payment service calls fx.")
    document.add_paragraph("first", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for row, cells in zip(table.rows, (("a", "b"), ("1", "2")), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    text = DOCX.read(buffer.getvalue()).text
    assert "# Payments\n" in text and "The payment service calls fx.\n" in text and "- first\n" in text
    assert "| a | b |\n| --- | --- |\n| 1 | 2 |\n" in text


def test_a_pdf_without_text_says_so_page_by_page():
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.add_blank_page(100, 100)
    buffer = io.BytesIO()
    writer.write(buffer)
    found = PDF.read(buffer.getvalue())
    assert [message for _, message in found.problems] == ["page 1 has no text layer", "page 2 has no text layer"]
    assert "# Page 2" in found.text


@pytest.mark.parametrize("reader", [PDF, DOCX])
def test_what_cannot_be_read_at_all_is_malformed(reader):
    for data in (b"", b"garbage", b"PK\x03\x04broken", b"%PDF-1.7\nbroken"):
        with pytest.raises(MalformedDocument):
            reader.read(data)


@pytest.mark.parametrize(
    "data",
    [
        b"a\x00b",
        b"\xff\xfea\x00\x00\x00",
        b"\xff\xfea",
        b"caf\xe9",
        "naïve café, déjà vu".encode("latin-1"),
        "결제 서비스가 주문을 부른다".encode()[:-1],
        "결제".encode() + b"\xff" + " 서비스".encode(),
        "支付服务调用订单服务".encode("gbk"),
        "決済サービスは注文を呼ぶ".encode("shift_jis"),
    ],
)
def test_text_is_utf_8(data):
    with pytest.raises(MalformedDocument):
        MARKDOWN.read(data)


def test_line_ends_and_byte_order_mark():
    assert MARKDOWN.read(b"\xef\xbb\xbfa\r\nb\rc\n").text == "a\nb\nc\n"


def test_front_matter():
    size, values, problem = front_matter("---\ntitle: A\ntags: [x, 1]\ndate: 2026-01-01\n---\nbody")
    assert (size, problem, text_value(values, "title"), list_value(values, "Tags")) == (
        len("---\ntitle: A\ntags: [x, 1]\ndate: 2026-01-01\n---\n"),
        "",
        "A",
        ("x", "1"),
    )
    assert front_matter("no\n---\n") == (0, {}, "")
    assert front_matter("---\n: [\n---\n")[2].startswith("front matter is no YAML")
    assert front_matter("---\n- a\n---\n")[2] == "front matter is no mapping"
    assert front_matter("---\n!!python/object/apply:os.system [ls]\n---\n")[1] == {}


@pytest.mark.parametrize(
    ("encoding", "note"), [("cp949", "CP949"), ("euc_kr", "CP949"), ("utf-16", "UTF-16"), ("utf-16-be", "UTF-16")]
)
def test_other_encodings_of_korean_are_read_and_noted(encoding, note):
    text = "# 결제 서비스\r\n\r\n주문(order) 서비스가 결제를 호출한다. 타임아웃은 3초 ± 10%이다.\r\n"
    data = (b"\xfe\xff" if encoding == "utf-16-be" else b"") + text.encode(encoding)
    for reader in (MARKDOWN, HTML):
        found = reader.read(data)
        assert "주문(order) 서비스가 결제를 호출한다." in found.text
        assert "\r" not in found.text
        assert [message for _, message in found.problems] == [f"read as {note}; save it as UTF-8"]


def test_a_byte_order_mark_is_no_text():
    assert MARKDOWN.read(b"\xef\xbb\xbf# A\r\n").text == "# A\n"
