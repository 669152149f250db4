"""Helm values: the environment of services under their keys, and addresses that stand there in plain.

```yaml
cart:                       # the service is the key above `env`
  env:
    - {name: VALKEY_ADDR, value: valkey:6379}
frontend:
  envVars: {CART_ADDR: cart:7070}
  adsUrl: http://ads:8080
```
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final

import yaml

from designed.addresses import addresses, holds_address
from designed.block_lines import BlockLines
from designed.kinds import ROLE_KIND, role_of
from designed.reader import Fact, Format, RawEntity, ReadContext, Reader, Reading
from designed.readers._yaml import documents, get, items, mask_templates, pairs, scalar, span, text_at, without_holes
from designed.readers.compose import image_name
from nexus.model.document import Problem, SourceText

_ENVIRONMENTS: Final = frozenset(
    {"env", "envvars", "environment", "extraenv", "extraenvs", "extraenvvars", "envoverrides", "environmentvariables"}
)
_NOT_SERVICES: Final = frozenset(
    {
        "global",
        "default",
        "defaults",
        "common",
        "components",
        "services",
        "deployment",
        "container",
        "image",
        "base",
        "server",
        "app",
    }
)
# Below these stands where a service itself is reached, or what only the cluster needs.
_OWN: Final = frozenset(
    {
        "ingress",
        "route",
        "routes",
        "httproute",
        "service",
        "image",
        "images",
        "global",
        "tls",
        "probe",
        "livenessprobe",
        "readinessprobe",
        "annotations",
        "labels",
    }
)
# A key with one of these is a thing that runs.
_RUN: Final = frozenset({"image", "replicas", "replicacount", "resources", "autoscaling"})
_PLAIN: Final = re.compile(
    r"^[ \t]*[\w.-]*(?:url|uri|host|addr|address|endpoint|servers?|brokers?)s?\s*:[ \t]*[\"']?[\w+:/.@-]+",
    re.IGNORECASE | re.MULTILINE,
)
# Folders between a service's and its chart's.
_FOLDERS: Final = frozenset(
    {"helm", "chart", "charts", "deploy", "deployment", "k8s", "kubernetes", "infra", "values", "environments", "envs"}
)
_MAX_DEPTH: Final = 8


def accepts(text: SourceText) -> bool:
    """`values.yaml`, `values-prod.yaml`, `prod.values.yaml` that hold an environment."""
    name = posixpath.basename(text.path)
    return re.match(r"(?:.*[.-])?values(?:[.-].*)?\.ya?ml$", name) is not None and (
        re.search(r"^\s*\w*(?:env|ENV|Env)\w*\s*:", text.text, re.MULTILINE) is not None
        or _PLAIN.search(text.text) is not None
    )


def read(text: SourceText, context: ReadContext) -> Reading:
    """Facts of each service's environment."""
    lines = BlockLines(text.text)
    roots, faults = documents(mask_templates(text.text))
    entities: list[RawEntity] = []
    facts: list[Fact] = []
    chart = next(
        (folder for folder in reversed(posixpath.dirname(text.path).split("/")) if folder.casefold() not in _FOLDERS),
        "",
    )
    for root in roots:
        _walk(lines, root, (chart, None), entities, facts, 0)
        facts += _plain(lines, root, chart, "", "", 0)
    return Reading(
        (),
        tuple(entities),
        tuple(facts),
        tuple(Problem(context.path, lines.line(at), message) for at, message in faults),
    )


def _walk(
    lines: BlockLines,
    node: yaml.Node,
    owner: tuple[str, yaml.Node | None],
    entities: list[RawEntity],
    facts: list[Fact],
    depth: int,
) -> None:
    if depth > _MAX_DEPTH:
        return
    name, key_node = owner
    environments = [(key, value) for key, _, value in pairs(node) if key.lower() in _ENVIRONMENTS]
    if environments and name and (key_node is not None or depth == 0):
        image = image_name(text_at(node, "image", "repository") or text_at(node, "image"))
        common = {"technology": image, "format": "helm"}
        place = lines.place(*span(key_node)) if key_node is not None else lines.whole_line(0)
        if key_node is not None:
            entities.append(RawEntity(name, ROLE_KIND[role_of(name, image)], place, declares=True))
            facts.append(Fact("address", name, name, text_at(node, "service", "port"), place, common))
        for _, environment in environments:
            for entry in items(environment):
                value = get(entry, "value")
                if value is not None and scalar(value):
                    facts.append(
                        Fact(
                            "env",
                            name,
                            text_at(entry, "name"),
                            without_holes(scalar(value)),
                            lines.place(*span(value)),
                            common,
                        )
                    )
            facts += [
                Fact("env", name, variable, without_holes(scalar(value)), lines.place(*span(k, value)), common)
                for variable, k, value in pairs(environment)
                if scalar(value)
            ]
    for key, k, value in pairs(node):
        if isinstance(value, yaml.MappingNode) and key.lower() not in _ENVIRONMENTS:
            below = owner if key.lower() in _NOT_SERVICES else (key, k)
            _walk(lines, value, below, entities, facts, depth + 1)


def _plain(lines: BlockLines, node: yaml.Node, name: str, owner: str, path: str, depth: int) -> Iterator[Fact]:
    """Addresses (URLs and host:port, no bare words) anywhere below what is run: the nearest key with an image or replicas, else the chart."""
    found = list(pairs(node))
    if any(key.lower() in _RUN for key, _, _ in found):
        owner, path = name, ""
    for key, k, value in found:
        dotted = f"{path}.{key}".lstrip(".")
        if isinstance(value, yaml.MappingNode):
            if depth < _MAX_DEPTH and key.lower() not in _OWN | _ENVIRONMENTS:
                yield from _plain(lines, value, name if key.lower() in _NOT_SERVICES else key, owner, dotted, depth + 1)
        elif owner and holds_address(key) and any(address.certain for address in addresses(scalar(value), key)):
            yield Fact("env", owner, dotted, scalar(value), lines.place(*span(k, value)), {"format": "helm"})


READER: Final[Reader] = Format("helm_values", accepts, read, 14)
