"""Who is reached from outside: Ingress and the Gateway API's routes. The entry CALLS what it routes to."""

from __future__ import annotations

import yaml

from designed.block_lines import BlockLines
from designed.kinds import ROLE_KIND, role_of
from designed.reader import RawClaim, RawName
from designed.readers._yaml import get, items, scalar, span, text_at, without_holes
from nexus.model.claim import Via

ROUTES = {"HTTPRoute": "http", "GRPCRoute": "grpc", "TCPRoute": "", "TLSRoute": "", "UDPRoute": ""}
_CLASS = "kubernetes.io/ingress.class"


def ingress(lines: BlockLines, root: yaml.Node) -> list[RawClaim]:
    """Each backend Service, in the present and the older spelling (`service.name`, `serviceName`), and the default one."""
    spec = get(root, "spec")
    name = without_holes(text_at(root, "metadata", "name"))
    kind = text_at(spec, "ingressClassName") or text_at(root, "metadata", "annotations", _CLASS)
    backends = [(get(spec, "defaultBackend") or get(spec, "backend"), "")]
    for rule in items(get(spec, "rules")):
        backends += [(get(path, "backend"), text_at(path, "path")) for path in items(get(rule, "http", "paths"))]
    attributes = {"ingress_class": kind} if kind else {}
    return [
        _routed(lines, name, target, "kubernetes.ingress", Via("http", path), attributes)
        for backend, path in backends
        if (target := get(backend, "service", "name") or get(backend, "serviceName")) is not None
        and _named(target, name)
    ]


def route(lines: BlockLines, root: yaml.Node, kind: str) -> list[RawClaim]:
    """Backends of a route, from each Gateway it is attached to. A route on a Service only splits that service's traffic."""
    spec = get(root, "spec")
    gateways = [
        without_holes(text_at(parent, "name"))
        for parent in items(get(spec, "parentRefs"))
        if (text_at(parent, "kind") or "Gateway") == "Gateway"
    ]
    found = []
    for rule in items(get(spec, "rules")):
        path = next((value for match in items(get(rule, "matches")) if (value := text_at(match, "path", "value"))), "")
        for backend in items(get(rule, "backendRefs")):
            target = get(backend, "name")
            if target is None or (text_at(backend, "kind") or "Service") != "Service":
                continue
            found += [
                _routed(lines, gateway, target, f"kubernetes.{kind.lower()}", Via(ROUTES[kind], path), {})
                for gateway in gateways
                if _named(target, gateway)
            ]
    return found


def _named(target: yaml.Node, entry: str) -> bool:
    name = without_holes(scalar(target))
    return bool(entry and name) and name != entry


def _routed(
    lines: BlockLines, entry: str, target: yaml.Node, rule: str, via: Via, attributes: dict[str, str]
) -> RawClaim:
    name = without_holes(scalar(target))
    return RawClaim(
        "CALLS",
        RawName(entry, "service"),
        RawName(name, ROLE_KIND[role_of(name)]),
        lines.place(*span(target)),
        rule,
        0.85,
        via,
        attributes=attributes,
    )
