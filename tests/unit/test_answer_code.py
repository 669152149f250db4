"""Values that code enforces beside what documents say, anchors, and permissions by grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from answer.coderoots import CodeRoots
from answer.codevalues import values_of
from answer.grades import authority
from nexus.model.document import Classification, DocumentRef, Passage, Tier
from nexus.testing.answering import ask, service
from nexus.testing.shop import TENANT

SOURCES = {
    "Order.java": 'class Order {\n  static final int MAX_ITEMS_PER_ORDER = 200;\n  // MAX_ITEMS_PER_ORDER = 5\n  String s = "LIMIT = 7";\n  @Size(min = 1, max = 100)\n  @NotNull private String title;\n}\n',
    "limits.kt": "const val MAX_RETRIES = 5\nclass B(@field:Size(max = 20) val title: String)\n",
    "limits.py": "MAX_NOTE = 1_000\nTIMEOUT = timedelta(seconds=30)\nclass M(BaseModel):\n    name: str = Field(max_length=50)\n    other = 3\n",
    "limits.go": "package a\nconst (\n\tMaxPages = 12\n\tWait = 30 * time.Second\n)\n",
    "limits.ts": "export const MAX_UPLOAD = 25;\nclass C { @MaxLength(20) label: string; }\nlet x = 3;\n",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Order.java", [("MAX_ITEMS_PER_ORDER", "200", "constant", 2), ("title", "max 100", "annotation", 5), ("title", "min 1", "annotation", 5)]),
        ("limits.kt", [("MAX_RETRIES", "5", "constant", 1), ("title", "max 20", "annotation", 2)]),
        ("limits.py", [("MAX_NOTE", "1000", "constant", 1), ("TIMEOUT", "30 seconds", "constant", 2), ("name", "max_length 50", "annotation", 4)]),
        ("limits.go", [("MaxPages", "12", "constant", 3), ("Wait", "30 seconds", "constant", 4)]),
        ("limits.ts", [("MAX_UPLOAD", "25", "constant", 1), ("label", "max 20", "annotation", 2)]),
        ("notes.md", []),
    ],
)
def test_constants_and_limits(path: str, expected: list[tuple[str, str, str, int]]) -> None:
    assert [(v.name, v.value, v.rule, v.line) for v in values_of(path, SOURCES.get(path, "MAX = 3"))] == expected


@pytest.fixture
def roots(tmp_path: Path) -> CodeRoots:
    folder = tmp_path / "app"
    folder.mkdir()
    for name, text in SOURCES.items():
        (folder / name).write_text(text, encoding="utf-8")
    secret = tmp_path / "secret.py"
    secret.write_text("HIDDEN_LIMIT = 9\n", encoding="utf-8")
    (folder / "link.py").symlink_to(secret)
    ticks = iter(range(0, 10_000, 100))
    return CodeRoots((folder,), TENANT, lambda: float(next(ticks)))


def test_code_is_internal_and_of_one_tenant(roots: CodeRoots) -> None:
    assert [v.value for v in roots.about(TENANT, "items per order", Classification.INTERNAL)] == ["200"]
    assert roots.about(TENANT, "items per order", Classification.PUBLIC) == []
    assert roots.about("other", "items per order", Classification.RESTRICTED) == []
    assert roots.about(TENANT, "hidden limit", Classification.RESTRICTED) == [], "a link out of the root is not followed"


def test_a_changed_file_is_read_again(roots: CodeRoots, tmp_path: Path) -> None:
    assert roots.about(TENANT, "max retries", Classification.INTERNAL)[0].value == "5"
    (tmp_path / "app" / "limits.kt").write_text("const val MAX_RETRIES = 77\n", encoding="utf-8")
    assert roots.about(TENANT, "max retries", Classification.INTERNAL)[0].value == "77"


def test_both_values_are_shown_and_neither_is_judged(roots: CodeRoots) -> None:
    text = "An order holds at most 100 items per order, as `Order` checks; `Gone.class()` did before."
    passage = Passage("pc", DocumentRef("dc", "Limits", "docs/limits.md", "r"), 0, ("Limits",), (1, 1), text, Classification.INTERNAL, Tier.AUTHORED)
    answer = service(passages=(passage,), code=roots).answer(ask("How many items per order are allowed?"))
    assert [(v.name, v.value, v.claimed) for v in answer.packet.values] == [("MAX_ITEMS_PER_ORDER", "200", "100 items")]
    assert "The document says 100 items, the code has MAX_ITEMS_PER_ORDER = 200 (app/Order.java:2)" in answer.text
    assert [(s.text, s.reason) for s in answer.verification.sentences if not s.verified] == []
    korean = service(passages=(passage,), code=roots).answer(ask("items per order 한도는?"))
    assert "코드의 MAX_ITEMS_PER_ORDER = 200" in korean.text
    assert korean.verification.share == 1.0
    assert ("Order", "exist", "app/Order.java", 1) in [(a.name, a.state, a.path, a.line) for a in answer.packet.anchors]
    hidden = service(passages=(passage,), code=roots).answer(ask("How many items per order are allowed?", Classification.PUBLIC))
    assert hidden.packet.values == ()


JAVA = """public enum GradeType { GUEST(0), MEMBER(10), MODERATOR(20); }
class S {
  @RequireGrade(GradeType.MODERATOR)
  public void deletePost(long id) {
  }
  public void write(User u) {
    requireAtLeast(u, GradeType.MEMBER);
  }
  List<P> list(User u) {
    if (u.grade == GradeType.GUEST) { return publicOnly(); }
  }
}
"""


def test_grades_are_blocked_by_what_certainly_refuses() -> None:
    found = authority({"S.java": JAVA}, "GradeType")
    assert found is not None
    assert found.levels == {"GUEST": 0, "MEMBER": 10, "MODERATOR": 20}
    assert found.blocked == {"GUEST": ("deletePost", "write"), "MEMBER": ("deletePost",), "MODERATOR": ()}
    assert authority({"S.java": JAVA}, "Other") is None
