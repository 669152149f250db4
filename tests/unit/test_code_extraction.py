"""What the code index takes from source files: values, symbols, gates; and which symbols a name in a document can mean."""

from __future__ import annotations

import pytest

from knowledge.code.grades import gates_of, members_of
from knowledge.code.names import Candidate, meant, ticked
from knowledge.code.reader import state_of
from knowledge.code.symbols import symbols_of
from knowledge.code.values import values_of
from nexus.store.code import AnchorRow

SOURCES = {
    "Order.java": (
        'class Order {\n  static final int MAX_ITEMS_PER_ORDER = 200;\n  // MAX_ITEMS_PER_ORDER = 5\n  String s = "LIMIT = 7";\n'
        "  @Size(min = 1, max = 100)\n  @NotNull private String title;\n  Order(int x) { int local = 1; }\n  void place(int n) { int z = 2; }\n  void place(String s) {}\n}\n"
    ),
    "limits.kt": "const val MAX_RETRIES = 5\nclass B(@field:Size(max = 20) val title: String) {\n    fun run(): Int {\n        val local = 1\n        return local\n    }\n}\n",
    "limits.py": (
        "MAX_NOTE = 1_000\nTIMEOUT = timedelta(seconds=30)\nclass M(BaseModel):\n    name: str = Field(max_length=50)\n    other = 3\n"
        "    def check(self, key='hunter2'):\n        z = 1\n"
    ),
    "limits.go": "package a\nconst (\n\tMaxPages = 12\n\tWait = 30 * time.Second\n)\ntype Cart struct{ Items int }\nfunc (c *Cart) Add(n int) error { z := 1; return nil }\n",
    "limits.ts": "export const MAX_UPLOAD = 25;\nclass C { @MaxLength(20) label: string; run(a: string): void { const z = 1 } }\nlet x = 3;\nexport enum E { P = 1 }\n",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "Order.java",
            [
                ("MAX_ITEMS_PER_ORDER", "200", "constant", 2),
                ("title", "max 100", "annotation", 5),
                ("title", "min 1", "annotation", 5),
            ],
        ),
        ("limits.kt", [("MAX_RETRIES", "5", "constant", 1), ("title", "max 20", "annotation", 2)]),
        (
            "limits.py",
            [
                ("MAX_NOTE", "1000", "constant", 1),
                ("TIMEOUT", "30 seconds", "constant", 2),
                ("name", "max_length 50", "annotation", 4),
            ],
        ),
        ("limits.go", [("MaxPages", "12", "constant", 3), ("Wait", "30 seconds", "constant", 4)]),
        ("limits.ts", [("MAX_UPLOAD", "25", "constant", 1), ("label", "max 20", "annotation", 2)]),
        ("notes.md", []),
    ],
)
def test_constants_and_limits(path: str, expected: list[tuple[str, str, str, int]]) -> None:
    assert [(v.name, v.value, v.rule, v.line) for v in values_of(path, SOURCES.get(path, "MAX = 3"))] == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "Order.java",
            [
                ("Order", "class"),
                ("Order.MAX_ITEMS_PER_ORDER", "constant"),
                ("Order.s", "field"),
                ("Order.title", "field"),
                ("Order.place", "method"),
            ],
        ),
        ("limits.kt", [("MAX_RETRIES", "constant"), ("B", "class"), ("B.run", "function")]),
        (
            "limits.py",
            [
                ("MAX_NOTE", "constant"),
                ("TIMEOUT", "constant"),
                ("M", "class"),
                ("M.name", "field"),
                ("M.other", "field"),
                ("M.check", "function"),
            ],
        ),
        (
            "limits.go",
            [
                ("MaxPages", "constant"),
                ("Wait", "constant"),
                ("Cart", "type"),
                ("Cart.Items", "field"),
                ("Cart.Add", "method"),
            ],
        ),
        (
            "limits.ts",
            [
                ("MAX_UPLOAD", "constant"),
                ("C", "class"),
                ("C.label", "field"),
                ("C.run", "method"),
                ("x", "constant"),
                ("E", "enum"),
                ("E.P", "constant"),
            ],
        ),
    ],
)
def test_symbols_without_locals(path: str, expected: list[tuple[str, str]]) -> None:
    found = symbols_of(path, SOURCES[path])
    assert (found[0].qualified, found[0].kind) == (path, "file")
    assert [(s.qualified, s.kind) for s in found[1:]] == expected


def test_a_signature_holds_no_text_literal() -> None:
    signature = next(s.signature for s in symbols_of("a.py", SOURCES["limits.py"]) if s.name == "check")
    assert signature == 'def check(self, key="…")'


def _hash(text: str, name: str = "place") -> str:
    return next(s.hash for s in symbols_of("A.java", text) if s.name == name)


def test_the_hash_is_of_what_the_code_does() -> None:
    base = _hash("class A { void place(int n) { send(n); } }")
    assert _hash("class A {\n  // why\n  void place(int n)\n  {\n    send(n); /* really */\n  }\n}") == base
    assert _hash("class A { void place(int n) { send(n + 1); } }") != base
    assert _hash("class A { void place(int n) { send(n); } void other() {} }") == base


def test_ticked_names_are_symbols_and_files() -> None:
    text = "`OrderService#place()` and `MAX_ITEMS` in `src/shop/Order.java`; not `order.created`, `cart-service`, `POST /checkout`, `redis`.\n```\n`Fenced`\n```\n`run()`"
    assert ticked(text) == ["OrderService#place()", "MAX_ITEMS", "src/shop/Order.java", "run()"]


def _candidate(path: str, qualified: str, digest: str = "h") -> Candidate:
    return Candidate(f"file:///{path}", path, qualified, 1, digest, "file" if qualified == path else "class")


@pytest.mark.parametrize(
    ("name", "path", "qualified", "fits"),
    [
        ("Order", "app/com/shop/Order.java", "Order", True),
        ("com.shop.Order", "app/com/shop/Order.java", "Order", True),
        ("com.bank.Order", "app/com/shop/Order.java", "Order", False),
        ("Order.place()", "app/com/shop/Order.java", "Order.place", True),
        ("Cart#place", "app/com/shop/Order.java", "Order.place", False),
        ("shop.limits.MAX", "app/shop/limits.py", "MAX", True),
        ("shop/Order.java", "app/com/shop/Order.java", "app/com/shop/Order.java", True),
        ("./bank/Order.java", "app/com/shop/Order.java", "app/com/shop/Order.java", False),
    ],
)
def test_a_name_means_what_its_owners_say(name: str, path: str, qualified: str, *, fits: bool) -> None:
    assert bool(meant(name, [_candidate(path, qualified)])) is fits


BOUND = AnchorRow("p", "Order", "Order", "file:///a/Order.java", "Order", "h", None, "d", "D", "u")
UNBOUND = AnchorRow("p", "Order", "Order", None, None, None, None, "d", "D", "u")
HERE, THERE = _candidate("a/Order.java", "Order"), _candidate("b/Order.java", "Order")


@pytest.mark.parametrize(
    ("anchor", "found", "state", "path"),
    [
        (BOUND, [HERE], "exist", "a/Order.java"),
        (BOUND, [HERE, THERE], "exist", "a/Order.java"),
        (BOUND, [_candidate("a/Order.java", "Order", "other")], "changed", "a/Order.java"),
        (BOUND, [THERE], "exist", "b/Order.java"),
        (BOUND, [_candidate("b/Order.java", "Order", "other")], "changed", "b/Order.java"),
        (BOUND, [THERE, _candidate("c/Order.java", "Order", "other")], "exist", "b/Order.java"),
        (BOUND, [THERE, _candidate("c/Order.java", "Order")], "ambiguous", ""),
        (BOUND, [], "gone", ""),
        (UNBOUND, [], "unbound", ""),
        (UNBOUND, [HERE, THERE], "ambiguous", ""),
    ],
)
def test_states_of_an_anchor(anchor: AnchorRow, found: list[Candidate], state: str, path: str) -> None:
    said, now = state_of(anchor, found)
    assert (said, now.path if now else "") == (state, path)


def test_gates_and_enums() -> None:
    java = (
        "public enum GradeType { GUEST(0), MEMBER(10), MODERATOR(20); }\nclass S {\n  @RequireGrade(GradeType.MODERATOR)\n  public void deletePost(long id) {\n  }\n"
        "  public void write(User u) {\n    requireAtLeast(u, GradeType.MEMBER);\n  }\n  List<P> list(User u) {\n    if (u.grade == GradeType.GUEST) { return publicOnly(); }\n  }\n}\n"
    )
    assert [(m.enum, m.name, m.level) for m in members_of(java)] == [
        ("GradeType", "GUEST", 0),
        ("GradeType", "MEMBER", 10),
        ("GradeType", "MODERATOR", 20),
    ]
    assert [(g.member, g.action, g.certain) for g in gates_of(java)] == [
        ("MODERATOR", "deletePost", True),
        ("MEMBER", "write", True),
        ("GUEST", "list", False),
    ]
    assert [m.name for m in members_of("const (\n\tGuest Grade = iota\n\tMember\n)\n")] == ["Guest", "Member"]
