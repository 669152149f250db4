"""Kubernetes manifests: workloads and their environment, Services, ConfigMaps, policies (`_kubernetes_policy`), routes (`_kubernetes_routes`).

Environment values that name another service are facts, for the service stands in another document: `designed.joins` makes claims
of them. Policies are claims, for both names stand in them. Helm's templates are read with their holes.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

import yaml

from designed.addresses import arguments
from designed.block_lines import BlockLines
from designed.kinds import ROLE_KIND, role_of
from designed.reader import Fact, Format, RawClaim, RawEntity, ReadContext, Reader, Reading
from designed.readers import _kubernetes_policy as policy
from designed.readers import _kubernetes_routes as routes
from designed.readers._embedded_settings import embedded
from designed.readers._yaml import (
    HOLE,
    documents,
    get,
    items,
    mask_templates,
    pairs,
    scalar,
    span,
    text_at,
    without_holes,
)
from designed.readers.compose import image_name
from nexus.model.document import Problem, SourceText

WORKLOADS: Final = frozenset(
    "Deployment StatefulSet DaemonSet ReplicaSet Job CronJob Pod ReplicationController Rollout DeploymentConfig".split(
        " "
    )
)
_SNIFF: Final = re.compile(r"^\s*(?:-\s+)?[\"']?kind[\"']?\s*:\s*[\"']?(\w+)", re.MULTILINE)
_API: Final = re.compile(r"^\s*(?:-\s+)?[\"']?apiVersion[\"']?\s*:", re.MULTILINE)
_KNOWN: Final = WORKLOADS | {
    "Service",
    "ConfigMap",
    "NetworkPolicy",
    "AuthorizationPolicy",
    "VirtualService",
    "ServiceEntry",
    "List",
    "Ingress",
    "Gateway",
    "DestinationRule",
    "Secret",
    "ServiceAccount",
    "Namespace",
    *routes.ROUTES,
    "PersistentVolumeClaim",
    "PersistentVolume",
    "HorizontalPodAutoscaler",
}


def accepts(text: SourceText) -> bool:
    """YAML or JSON with an apiVersion and a kind that is known here."""
    if text.suffix not in (".yaml", ".yml", ".json", ".tpl") or not _API.search(text.text):
        return False
    return any(match.group(1) in _KNOWN for match in _SNIFF.finditer(text.text))


def read_block(body: str, first_line: int = 1, column_offset: int = 0, context: ReadContext | None = None) -> Reading:
    """A manifest file or a fence with one."""
    path = context.path if context else ""
    lines = BlockLines(body, first_line, column_offset)
    roots, faults = documents(mask_templates(body))
    reading = Reading(problems=tuple(Problem(path, lines.line(at), message) for at, message in faults))
    for root in roots:
        listed = items(get(root, "items")) if text_at(root, "kind") == "List" else [root]
        for item in listed:
            reading += _object(lines, item)
    return reading


def _object(lines: BlockLines, root: yaml.Node) -> Reading:
    kind, name_node = text_at(root, "kind"), get(root, "metadata", "name")
    name = without_holes(scalar(name_node))
    if not kind or name_node is None:
        return Reading()
    api = text_at(root, "apiVersion")
    claims: list[RawClaim] = []
    if kind == "NetworkPolicy":
        claims = policy.network_policy(lines, root)
    elif kind == "AuthorizationPolicy":
        claims = policy.authorization_policy(lines, root)
    elif kind == "VirtualService":
        claims = policy.virtual_service(lines, root)
    elif kind == "Ingress":
        claims = routes.ingress(lines, root)
    elif kind in routes.ROUTES:
        claims = routes.route(lines, root, kind)
    if claims or not name:
        return Reading(tuple(claims))
    common = {"namespace": text_at(root, "metadata", "namespace"), "format": "kubernetes"}
    place = lines.place(*span(name_node))
    if kind in WORKLOADS or (kind == "Service" and api.startswith("serving.knative.dev")):
        return _workload(lines, root, (kind, name), common)
    if kind == "Service":
        return _service(lines, root, name, common)
    if kind == "ConfigMap":
        facts: list[Fact] = []
        for key, k, value in pairs(get(root, "data")):
            if isinstance(value, yaml.ScalarNode) and value.style == "|" and posixpath.splitext(key)[1]:
                facts += embedded(lines, name, key, value, common)
            elif scalar(value) and "\n" not in scalar(value):
                place = lines.place(k.start_mark.index, value.end_mark.index)
                facts.append(Fact("config", name, key, scalar(value), place, common))
        return Reading(facts=tuple(facts))
    if kind == "ServiceEntry":
        hosts = [scalar(item) for item in items(get(root, "spec", "hosts"))]
        outside = text_at(root, "spec", "location").upper() != "MESH_INTERNAL"
        entity = RawEntity(
            name,
            "external" if outside else "service",
            place,
            tuple(h for h in hosts if h and "*" not in h),
            declares=True,
        )
        return Reading(entities=(entity,))
    return Reading()


def _service(lines: BlockLines, root: yaml.Node, name: str, common: dict[str, str]) -> Reading:
    name_node = get(root, "metadata", "name")
    place = lines.place(*span(name_node)) if name_node is not None else lines.whole_line(0)
    ports = ",".join(text_at(port, "port") for port in items(get(root, "spec", "ports")) if text_at(port, "port"))
    namespace = common["namespace"]
    facts = [Fact("address", name, name, ports, place, common)]
    if namespace and HOLE not in namespace:
        facts.append(Fact("address", name, f"{name}.{namespace}", ports, place, common))
    external = text_at(root, "spec", "externalName")
    facts += [
        Fact("selector", name, f"{key}={without_holes(scalar(value))}", "", place, common)
        for key, _, value in pairs(get(root, "spec", "selector"))
    ]
    entity = RawEntity(
        name,
        ROLE_KIND[role_of(name)],
        place,
        (external,) if external else (),
        declares=True,
        attributes=_namespaced(common),
    )
    return Reading(entities=(entity,), facts=tuple(facts))


def _namespaced(common: dict[str, str]) -> dict[str, str]:
    return {"kubernetes_namespace": common["namespace"]} if common["namespace"] else {}


def _workload(lines: BlockLines, root: yaml.Node, what: tuple[str, str], base: dict[str, str]) -> Reading:
    kind, name = what
    template = get(root, "spec", "template") or get(root, "spec", "jobTemplate", "spec", "template") or root
    pod = get(template, "spec")
    containers = [*items(get(pod, "containers")), *items(get(pod, "initContainers"))]
    images = [image_name(text_at(container, "image")) for container in containers]
    name_node = get(root, "metadata", "name")
    place = lines.place(*span(name_node)) if name_node is not None else lines.whole_line(0)
    common = {**base, "technology": images[0] if images else "", "kind": kind}
    facts = [
        Fact("label", name, f"{key}={without_holes(scalar(value))}", "", place, common)
        for key, _, value in pairs(get(template, "metadata", "labels"))
    ]
    account = text_at(pod, "serviceAccountName")
    for container in containers:
        facts += _container(lines, name, container, common)
    for volume in items(get(pod, "volumes")):
        for mounted in (volume, *items(get(volume, "projected", "sources"))):
            if (config := get(mounted, "configMap", "name")) is not None and scalar(config):
                facts.append(
                    Fact(
                        "env_ref",
                        name,
                        without_holes(scalar(config)),
                        "",
                        lines.place(*span(config)),
                        {**common, "mounted": "true"},
                    )
                )
    entity = RawEntity(
        name,
        ROLE_KIND[role_of(name, common["technology"])],
        place,
        (account,) if account and account == f"{name}-sa" else (),
        declares=True,
        attributes={**_namespaced(common), "workload": kind, **({"image": images[0]} if images else {})},
    )
    return Reading(entities=(entity,), facts=(Fact("workload", name, kind, "", place, common), *facts))


def _container(lines: BlockLines, name: str, container: yaml.Node, common: dict[str, str]) -> list[Fact]:
    facts: list[Fact] = []
    for entry in items(get(container, "env")):
        variable, value = get(entry, "name"), get(entry, "value")
        if variable is None or not scalar(variable) or text_at(entry, "$patch") == "delete":
            continue
        if value is not None and scalar(value):
            key = next(k for text, k, _ in pairs(entry) if text == "value")
            facts.append(
                Fact(
                    "env", name, scalar(variable), without_holes(scalar(value)), lines.place(*span(key, value)), common
                )
            )
            continue
        reference = get(entry, "valueFrom", "configMapKeyRef")
        if reference is not None:
            source = f"{without_holes(text_at(reference, 'name'))}/{text_at(reference, 'key')}"
            facts.append(Fact("env_key", name, scalar(variable), source, lines.place(*span(variable)), common))
    for reference in items(get(container, "envFrom")):
        config = get(reference, "configMapRef", "name")
        if config is not None and scalar(config):
            facts.append(
                Fact(
                    "env_ref",
                    name,
                    without_holes(scalar(config)),
                    text_at(reference, "prefix"),
                    lines.place(*span(config)),
                    common,
                )
            )
    for part in ("command", "args"):
        for item in items(get(container, part)):
            facts += [
                Fact("argument", name, part, word, lines.place(*span(item)), common) for word in arguments(scalar(item))
            ]
    return facts


def read(text: SourceText, context: ReadContext) -> Reading:
    """The whole file."""
    return read_block(text.text, context=context)


READER: Final[Reader] = Format("kubernetes", accepts, read, 12)
