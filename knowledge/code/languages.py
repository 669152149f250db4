"""What the syntax trees of the five languages call the things that are indexed. A table; the walk over it is `symbols` and `values`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `symbols`: node type -> kind; `assigns`: (node type, field of the name, field of the value), "" where the grammar has no fields."""

    name: str
    symbols: Mapping[str, str]
    assigns: tuple[tuple[str, str, str], ...]
    # Bodies in which a name is nobody's symbol: locals.
    bodies: frozenset[str]


_TYPESCRIPT = Language(
    "typescript",
    {
        "class_declaration": "class",
        "abstract_class_declaration": "class",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "type_alias_declaration": "type",
        "function_declaration": "function",
        "method_definition": "method",
        "method_signature": "method",
        "abstract_method_signature": "method",
        "public_field_definition": "field",
        "property_signature": "field",
        "variable_declarator": "constant",
        "enum_assignment": "constant",
    },
    (("variable_declarator", "name", "value"), ("public_field_definition", "name", "value")),
    frozenset({"statement_block", "arrow_function", "function_expression"}),
)
LANGUAGES: Mapping[str, Language] = {
    "java": Language(
        "java",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "class",
            "annotation_type_declaration": "interface",
            "method_declaration": "method",
            "variable_declarator": "field",
            "enum_constant": "constant",
        },
        (("variable_declarator", "name", "value"),),
        frozenset({"block", "constructor_body", "lambda_expression"}),
    ),
    "kotlin": Language(
        "kotlin",
        {
            "class_declaration": "class",
            "object_declaration": "class",
            "function_declaration": "function",
            "property_declaration": "field",
            "enum_entry": "constant",
            "type_alias": "type",
        },
        (("property_declaration", "", ""),),
        frozenset({"function_body", "lambda_literal", "anonymous_initializer"}),
    ),
    "python": Language(
        "python",
        {"class_definition": "class", "function_definition": "function", "assignment": "field"},
        (("assignment", "left", "right"),),
        frozenset({"lambda"}),
    ),
    "go": Language(
        "go",
        {
            "function_declaration": "function",
            "method_declaration": "method",
            "method_elem": "method",
            "type_spec": "type",
            "type_alias": "type",
            "const_spec": "constant",
            "var_spec": "field",
            "field_declaration": "field",
        },
        (("const_spec", "name", "value"), ("var_spec", "name", "value")),
        frozenset({"block", "func_literal"}),
    ),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
}
# Ending -> grammar.
SUFFIXES: Mapping[str, str] = {
    ".java": "java",
    ".kt": "kotlin",
    ".kts": "kotlin",
    ".py": "python",
    ".go": "go",
    ".ts": "typescript",
    ".tsx": "tsx",
}


def grammar_of(path: str) -> str:
    """The grammar of a file by its ending; "" for a file that is not read."""
    return next((name for suffix, name in SUFFIXES.items() if path.endswith(suffix)), "")


@cache
def _language(grammar: str) -> Any:
    import tree_sitter
    import tree_sitter_go
    import tree_sitter_java
    import tree_sitter_kotlin
    import tree_sitter_python
    import tree_sitter_typescript

    made = {
        "java": tree_sitter_java.language,
        "kotlin": tree_sitter_kotlin.language,
        "python": tree_sitter_python.language,
        "go": tree_sitter_go.language,
        "typescript": tree_sitter_typescript.language_typescript,
        "tsx": tree_sitter_typescript.language_tsx,
    }[grammar]
    return tree_sitter.Language(made())


def parse(grammar: str, text: str) -> Any:
    """The root of the syntax tree; broken code gives a tree with gaps. A parser of its own for each call: parsers are not thread-safe."""
    import tree_sitter

    return tree_sitter.Parser(_language(grammar)).parse(text.encode()).root_node


def text_of(node: Any) -> str:
    """The source of a node."""
    return str(node.text.decode("utf-8", "replace"))
