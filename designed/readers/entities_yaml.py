"""`entities.yaml`: names declared by people. Any document of that name in an ingested folder counts.

```yaml
entities:
  - name: checkout                  # canonical: as traces spell it
    kind: service                   # service (default), database, topic, external, api
    aliases: [checkout service, 주문 서비스]
    owner: team-orders
    namespace: shop                 # OpenTelemetry service.namespace
    environments: [prod, staging]   # where it exists; default everywhere
    technology: postgresql          # product behind a store or broker
    members: [checkout-a, checkout-b]   # a group: a claim about it is satisfied by any member
ignore: [example-service]           # names that are never entities
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import yaml

from designed.place import Lines
from designed.reader import RawEntity, ReadContext, Reader, Reading
from nexus.model.document import Problem, SourceText
from nexus.model.service import NodeKind

_KNOWN = frozenset({"name", "kind", "aliases", "owner", "namespace", "environments", "technology", "members"})
_LISTS = frozenset({"aliases", "environments", "members"})


class EntitiesYaml:
    """Reads declarations; an entry that makes no sense is a problem with its line, the others count."""

    name = "entities_yaml"
    order = 0

    def accepts(self, text: SourceText) -> bool:
        """By file name."""
        return text.path.rsplit("/", 1)[-1].casefold() in {"entities.yaml", "entities.yml"}

    def read(self, text: SourceText, context: ReadContext) -> Reading:
        """Entities with `attributes["declared"]`."""
        path = context.path or text.path
        try:
            root = yaml.compose(text.text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            return Reading(
                problems=(
                    Problem(
                        path, mark.line + 1 if mark else 0, f"no YAML: {getattr(error, 'problem', error)}", "entities"
                    ),
                )
            )
        if root is None:
            return Reading()
        lines = Lines(text.text)
        entities: list[RawEntity] = []
        problems: list[Problem] = []
        for key, value in _pairs(root):
            if key == "entities" and isinstance(value, yaml.SequenceNode):
                for node in value.value:
                    _entry(node, lines, path, entities, problems)
            elif key == "ignore" and isinstance(value, yaml.SequenceNode):
                entities += [
                    RawEntity(
                        str(node.value),
                        "",
                        lines.place(node.start_mark.index, node.end_mark.index),
                        attributes={"declared": "ignored"},
                    )
                    for node in value.value
                ]
            else:
                problems.append(
                    Problem(
                        path,
                        value.start_mark.line + 1,
                        f"unknown or misplaced key {key!r}; there are `entities` and `ignore`",
                        "entities",
                    )
                )
        return Reading(entities=tuple(entities), problems=tuple(problems))


def _entry(node: yaml.Node, lines: Lines, path: str, entities: list[RawEntity], problems: list[Problem]) -> None:
    line = node.start_mark.line + 1
    values: dict[str, str] = {}
    many: dict[str, tuple[str, ...]] = {}
    for key, value in _pairs(node):
        if key not in _KNOWN:
            problems.append(
                Problem(
                    path,
                    value.start_mark.line + 1,
                    f"unknown key {key!r}; there are {', '.join(sorted(_KNOWN))}",
                    "entities",
                )
            )
        elif key in _LISTS:
            nodes = value.value if isinstance(value, yaml.SequenceNode) else [value]
            many[key] = tuple(str(item.value) for item in nodes if isinstance(item, yaml.ScalarNode))
        elif isinstance(value, yaml.ScalarNode):
            values[key] = str(value.value)
    kind = values.get("kind", NodeKind.SERVICE.value)
    if not values.get("name"):
        problems.append(Problem(path, line, "an entity without a name", "entities"))
        return
    if kind not in set(NodeKind):
        problems.append(
            Problem(path, line, f"{values['name']}: kind {kind!r} is none of {', '.join(NodeKind)}", "entities")
        )
        return
    attributes = {"declared": "true"}
    attributes |= {key: values[key] for key in ("namespace", "technology") if values.get(key)}
    attributes |= {key: "\n".join(many[key]) for key in ("environments", "members") if many.get(key)}
    end = max(node.start_mark.index, node.end_mark.index)
    entities.append(
        RawEntity(
            values["name"],
            kind,
            lines.place(node.start_mark.index, end),
            many.get("aliases", ()),
            declares=True,
            group=bool(many.get("members")),
            owner=values.get("owner", ""),
            attributes=attributes,
        )
    )


def _pairs(node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), value


READER: Final[Reader] = EntitiesYaml()
