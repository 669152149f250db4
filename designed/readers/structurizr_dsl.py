"""Structurizr DSL: the model's elements and relationships. Own subset: views and styles are skipped, they only show the model.

Components are rolled up to their container, as an arrow between deployables; an element's relationships may stand inside it
(`-> target`) or anywhere (`a -> b`). `!include` of a local file gives its elements, for identifiers; `!identifiers hierarchical`,
`!ref`, `!extend`, `!const` and groups are known. Persons make weak claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from designed.block_lines import BlockLines
from designed.drawing import Diagram, DrawnEdge, DrawnNode, node_role
from designed.kinds import Role
from designed.labels import modality_of, read_label
from designed.reader import Format, ReadContext, Reader, Reading
from designed.readers._dsl_tokens import Statement, statements
from designed.readers._include import beside
from nexus.model.claim import Modality
from nexus.model.document import Problem, SourceText

_ELEMENTS: Final = frozenset(
    {"person", "softwaresystem", "container", "component", "deploymentnode", "infrastructurenode", "element"}
)
_INSTANCES: Final = frozenset({"containerinstance", "softwaresysteminstance", "instanceof"})
_SKIPPED: Final = frozenset(
    {
        "views",
        "styles",
        "configuration",
        "properties",
        "perspectives",
        "users",
        "!docs",
        "!adrs",
        "!script",
        "!plugin",
        "!components",
        "docs",
        "branding",
        "terminology",
        "healthcheck",
    }
)
_ARROW: Final = re.compile(r"-(?:-([\w.]+)-)?>")
_INERT: Final = frozenset(
    {
        "tags",
        "tag",
        "description",
        "technology",
        "url",
        "instances",
        "!identifiers",
        "!impliedrelationships",
        "!include",
        "!const",
        "!constant",
        "!var",
        "name",
        "properties",
        "healthcheck",
        "title",
        "!elements",
        "!relationships",
        "theme",
        "themes",
    }
)
_SPECIFICATION: Final = {
    "person": (2, -1, 3),
    "softwaresystem": (2, -1, 3),
    "container": (2, 3, 4),
    "component": (2, 3, 4),
}
_MAX_INCLUDES: Final = 64


@dataclass(slots=True)
class _Model:
    lines: BlockLines
    path: str
    read_file: Callable[[str], str | None]
    included: set[str] = field(default_factory=set)
    diagram: Diagram = field(default_factory=Diagram)
    problems: list[Problem] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    pending: list[tuple[str, Statement, str]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    # Kinds that the workspace defines: (what they are in the end, technology, tags).
    archetypes: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    hierarchical: bool = False
    drawing: bool = True


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """A workspace, or a fragment of one that another file includes."""
    context = context or ReadContext()
    model = _Model(BlockLines(body, first_line, column_offset), context.path, context.read_file)
    base = re.search(r"workspace\s+extends\s+\"?([^\s\"{]+)", body)
    if base:
        _include(model, base.group(1), [])
    _walk(model, statements(body))
    for source, statement, environment in model.pending:
        _relate(model, source, statement, environment)
    return Reading(model.diagram.claims(), model.diagram.entities(), problems=tuple(model.problems))


def _include(model: _Model, name: str, stack: list[tuple[str, str]]) -> None:
    """Elements of a local file, as if they stood here; its relationships are read where they stand."""
    name = re.sub(r"\$\{(\w+)\}", lambda m: model.constants.get(m.group(1), m.group(0)), name)
    target = beside(model.path, name)
    if target is None or target in model.included or len(model.included) >= _MAX_INCLUDES:
        return
    model.included.add(target)
    content = model.read_file(target)
    if content is None:
        return
    known = set(model.diagram.nodes)
    inner = replace(model, lines=BlockLines(content), path=target, drawing=False, problems=[], pending=[])
    _walk(inner, statements(content), list(stack))
    model.hierarchical = model.hierarchical or inner.hierarchical
    model.diagram.foreign.update(set(model.diagram.nodes) - known)


def _walk(model: _Model, lines: list[Statement], around: list[tuple[str, str]] | None = None) -> None:
    """Elements on a stack of blocks; a block that is skipped is skipped whole. `around`: the blocks that an include stands in."""
    stack: list[tuple[str, str]] = list(around or [])
    outside = len(stack)
    skipping = 0
    environment = ""
    for statement in lines:
        if statement.tokens == ("}",):
            if skipping:
                skipping -= 1
            elif len(stack) > outside:
                kind, _ = stack.pop()
                if kind == "environment":
                    environment = ""
            else:
                model.problems.append(Problem(model.path, model.lines.line(statement.start), "a } without its {"))
            continue
        if skipping:
            skipping += statement.opens
            continue
        first = statement.keyword()
        if first in _SKIPPED and statement.opens:
            skipping = 1
            continue
        opened = _statement(model, statement, stack, environment)
        if opened is not None and opened[0] == "environment":
            environment = opened[1]
        if statement.opens:
            stack.append(opened or ("block", ""))
    if len(stack) > outside or skipping:
        model.problems.append(Problem(model.path, model.lines.line(len(model.lines.text)), "a { is not closed"))


def _element_of(stack: list[tuple[str, str]]) -> str:
    return next((name for kind, name in reversed(stack) if kind == "element"), "")


def _statement(
    model: _Model, statement: Statement, stack: list[tuple[str, str]], environment: str
) -> tuple[str, str] | None:
    tokens, parent = statement.tokens, _element_of(stack)
    if not tokens:
        return None
    first = statement.keyword()
    if first in ("!const", "!constant", "!var") and len(tokens) > 2:
        model.constants[tokens[1]] = tokens[2]
        return None
    if first == "!include" and len(tokens) > 1:
        _include(model, tokens[1], stack)
        return None
    if first == "!identifiers":
        model.hierarchical = model.hierarchical or statement.keyword(1) == "hierarchical"
        return None
    if any(kind == "archetypes" for kind, _ in stack):
        return _archetype(model, statement, stack[-1][1])
    arrow = _arrow(statement)
    if arrow >= 0:
        # `rel = a -> b`, `a -> b`, `-> b` inside an element; `-/>` removes and is no statement here.
        source = tokens[arrow - 1] if arrow > 0 and tokens[arrow - 1] != "=" else parent
        if len(tokens) > arrow + 1 and model.drawing:
            model.pending.append(
                (_absolute(model, source, parent) if source != parent else parent, statement, environment)
            )
        return ("relation", "")
    ident, body = "", 0
    if len(tokens) > 2 and tokens[1] == "=" and not statement.quoted[0]:
        ident, body = tokens[0], 2
    if "-/>" in tokens:
        # A deployment without a relationship of the model.
        return None
    keyword = statement.keyword(body)
    if keyword == "archetypes":
        return ("archetypes", "")
    if keyword in ("!ref", "!extend", "!element") and len(tokens) > body + 1:
        return ("element", _absolute(model, tokens[body + 1], parent))
    if keyword == "deploymentenvironment":
        return ("environment", tokens[body + 1] if len(tokens) > body + 1 else "")
    if keyword == "group":
        return ("group", "")
    if keyword in _INSTANCES and len(tokens) > body + 1:
        name = _absolute(model, tokens[body + 1], parent)
        if ident:
            model.ids[_key(ident)] = name
        if parent:
            model.diagram.nodes.setdefault(parent, _blank(model, parent, statement))
            model.tags.setdefault(f"hosts:{parent}", "")
            model.tags[f"hosts:{parent}"] += f"\n{name}"
        return ("instance", name)
    if (keyword in _ELEMENTS or keyword in model.archetypes) and len(tokens) > body + 1:
        return _element(model, statement, body, ident, parent)
    if first in _INERT or first in ("workspace", "model", "enterprise") or first.startswith("!"):
        if first == "tags" and parent:
            model.tags[parent] = f"{model.tags.get(parent, '')},{','.join(tokens[1:])}"
        return None
    model.problems.append(
        Problem(model.path, model.lines.line(statement.start), f"cannot read {' '.join(tokens)[:40]!r}")
    )
    return None


def _arrow(statement: Statement) -> int:
    """Where the arrow stands (`->`, or `--https->` of an archetype); -1 in a statement that relates nothing."""
    found = next((i for i, token in enumerate(statement.tokens[:4]) if _ARROW.fullmatch(token)), -1)
    return -1 if found >= 0 and any(statement.quoted[: found + 1]) else found


def _archetype(model: _Model, statement: Statement, inside: str) -> tuple[str, str]:
    """A kind that the workspace defines (`springApp = container {`, `https = --sync-> {`), or what its block says of it."""
    tokens = statement.tokens
    if len(tokens) > 2 and tokens[1] == "=":
        name, base = _key(tokens[0]), _ARROW.sub(lambda m: m.group(1) or "->", tokens[2]).lower()
        model.archetypes[name] = model.archetypes.get(base, (base, "", ""))
        return ("archetype", name)
    if inside in model.archetypes and len(tokens) > 1:
        kind, technology, tags = model.archetypes[inside]
        if statement.keyword() == "technology":
            technology = tokens[1]
        elif statement.keyword() in ("tag", "tags"):
            tags = ",".join(filter(None, (tags, *tokens[1:])))
        model.archetypes[inside] = (kind, technology, tags)
    return ("archetype", inside)


def _blank(model: _Model, name: str, statement: Statement) -> DrawnNode:
    return DrawnNode(name, name, node_role(name), model.lines.place(statement.start, statement.end))


def _key(ident: str) -> str:
    return ident.lower()


def _absolute(model: _Model, ident: str, parent: str) -> str:
    """The element that an identifier means: with hierarchical identifiers, from inside out."""
    if ident.lower() == "this":
        return parent
    scope = parent
    while scope:
        if f"{_key(scope)}.{_key(ident)}" in model.ids:
            return model.ids[f"{_key(scope)}.{_key(ident)}"]
        scope = scope.rpartition(".")[0]
    return model.ids.get(_key(ident), ident)


def _element(model: _Model, statement: Statement, body: int, ident: str, parent: str) -> tuple[str, str]:
    tokens = statement.tokens
    keyword, made_of, marks = model.archetypes.get(statement.keyword(body), (statement.keyword(body), "", ""))
    label = re.sub(r"\$\{(\w+)\}", lambda m: model.constants.get(m.group(1), m.group(0)), tokens[body + 1])
    name = f"{parent}.{ident}" if ident and parent and model.hierarchical else (ident or f"{parent}/{label}")
    if ident:
        model.ids[_key(name)] = name
        if not model.hierarchical:
            model.ids[_key(ident)] = name
    _, technology_at, tags_at = _SPECIFICATION.get(keyword, (2, 3, 4))
    technology = tokens[body + technology_at] if technology_at > 0 and len(tokens) > body + technology_at else made_of
    tags = ",".join(filter(None, (marks, tokens[body + tags_at] if len(tokens) > body + tags_at else "")))
    model.tags[name] = tags
    hint = Role.PERSON if keyword == "person" else None
    if hint is None and re.search(r"\bdatabase\b|\bdata ?store\b", tags, re.IGNORECASE):
        hint = Role.STORE
    if hint is None and re.search(r"\b(?:queue|topic|message ?bus)\b", tags, re.IGNORECASE):
        hint = Role.TOPIC
    if hint is None and keyword == "softwaresystem" and re.search(r"\bexternal\b", tags, re.IGNORECASE):
        hint = Role.EXTERNAL
    role = node_role(label, technology, hint, ident)
    if keyword in ("deploymentnode", "infrastructurenode"):
        role = Role.SERVICE
    within = (parent, *model.diagram.nodes[parent].within) if parent in model.diagram.nodes else ()
    group = keyword in ("deploymentnode", "softwaresystem") and statement.opens
    if group:
        model.diagram.groups[name] = label
    node = DrawnNode(
        name,
        label,
        role,
        model.lines.place(statement.start, statement.end),
        (ident,) if ident and ident != name else (),
        within,
        shape=keyword,
        group=False,
        part_of=parent if keyword == "component" else "",
        technology=technology,
    )
    model.diagram.nodes[name] = node
    return ("element", name)


def _relate(model: _Model, source: str, statement: Statement, environment: str) -> None:
    tokens = statement.tokens
    arrow = _arrow(statement)
    kind = _ARROW.fullmatch(tokens[arrow])
    _, made_of, marks = model.archetypes.get(_key((kind and kind.group(1)) or ""), ("", "", ""))
    source = _host(model, _absolute(model, source, ""))
    target = _host(model, _absolute(model, tokens[arrow + 1], source))
    for name in (source, target):
        if name and name not in model.diagram.nodes:
            model.diagram.nodes[name] = _blank(model, name, statement)
    if not source or not target:
        return
    rest = tokens[arrow + 2 :]
    description, technology, tags = (rest[i] if len(rest) > i else "" for i in range(3))
    technology, tags = technology or made_of, f"{marks},{tags}"
    # A state of the future may stand on the relation or on what it goes to.
    modality = modality_of(tags.replace(",", " "))
    if modality is Modality.ASSERTED:
        modality = modality_of(model.tags.get(target, "").replace(",", " "))
    if modality is Modality.CONDITIONAL:
        modality = Modality.ASSERTED
    read, words = read_label(f"{description} {technology}".strip()), read_label(description)
    label = replace(
        words, protocol=read.protocol, modality=modality if modality is not Modality.ASSERTED else words.modality
    )
    model.diagram.edges.append(
        DrawnEdge(
            source,
            target,
            label,
            model.lines.place(statement.start, statement.end),
            rule="structurizr.relationship",
            confidence=0.97,
            environment=environment,
            attributes={"technology": technology} if technology else {},
        )
    )


def _host(model: _Model, name: str) -> str:
    """A deployment node that hosts one container stands for that container."""
    hosted = [item for item in model.tags.get(f"hosts:{name}", "").split("\n") if item]
    return hosted[0] if len(set(hosted)) == 1 else name


def accepts(text: SourceText) -> bool:
    """Files named .dsl that hold a workspace or a part of a model."""
    return (
        text.suffix == ".dsl"
        and re.search(r"\b(?:workspace|model|softwareSystem|container|!include|->)", text.text, re.IGNORECASE)
        is not None
    )


def read(text: SourceText, context: ReadContext) -> Reading:
    """The whole file."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("structurizr_dsl", accepts, read)
