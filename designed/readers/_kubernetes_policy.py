"""Who may call whom: NetworkPolicy, and Istio's AuthorizationPolicy and VirtualService."""

from __future__ import annotations

import re
from typing import Final

import yaml

from designed.addresses import short_host
from designed.block_lines import BlockLines
from designed.kinds import ROLE_KIND, role_of
from designed.reader import RawClaim, RawName
from designed.readers._yaml import get, items, pairs, scalar, span, text_at
from nexus.model.claim import Modality, Via

# The label that names a workload, the most telling first.
NAME_LABELS: Final = (
    "app.kubernetes.io/name",
    "app",
    "name",
    "k8s-app",
    "app.kubernetes.io/component",
    "component",
    "io.kompose.service",
    "service",
    "app.kubernetes.io/instance",
)


def labels_name(labels: yaml.Node | None) -> tuple[str, tuple[int, int]] | None:
    """(workload name, offsets of the label that says it) of a label map."""
    found = {key: (scalar(value), (k.start_mark.index, value.end_mark.index)) for key, k, value in pairs(labels)}
    return next((found[label] for label in NAME_LABELS if label in found and found[label][0]), None)


def selected(selector: yaml.Node | None) -> list[tuple[str, tuple[int, int]]]:
    """Workloads that a pod selector names; nothing for one that selects all."""
    named = labels_name(get(selector, "matchLabels"))
    if named:
        return [named]
    found = []
    for expression in items(get(selector, "matchExpressions")):
        if text_at(expression, "operator") == "In" and text_at(expression, "key") in NAME_LABELS:
            found += [(scalar(value), span(value)) for value in items(get(expression, "values")) if scalar(value)]
    return found


def _name(name: str) -> RawName:
    return RawName(name, ROLE_KIND[role_of(name)])


def _ports(rule: yaml.Node) -> str:
    ports = items(get(rule, "ports"))
    return next(
        (f"{text_at(port, 'protocol') or 'TCP'}:{text_at(port, 'port')}" for port in ports if text_at(port, "port")),
        "TCP" if ports else "",
    )


def network_policy(lines: BlockLines, root: yaml.Node) -> list[RawClaim]:
    """Allowed edges: `ingress.from` a pod to the selected pod, `egress.to` a pod from it. Namespaces and IP blocks name no service."""
    spec = get(root, "spec")
    found: list[RawClaim] = []
    for subject, _ in selected(get(spec, "podSelector")):
        for direction, peer_key in (("ingress", "from"), ("egress", "to")):
            for rule in items(get(spec, direction)):
                for peer in items(get(rule, peer_key)):
                    for other, where in selected(get(peer, "podSelector")):
                        ends = (other, subject) if direction == "ingress" else (subject, other)
                        if other == subject:
                            continue
                        port = _ports(rule)
                        found.append(
                            RawClaim(
                                "CALLS",
                                _name(ends[0]),
                                _name(ends[1]),
                                lines.place(*where),
                                "kubernetes.networkpolicy",
                                0.92,
                                drawn="reversed" if direction == "ingress" else "",
                                attributes={
                                    "policy": text_at(root, "metadata", "name"),
                                    "allowed": "true",
                                    **({"port": port} if port else {}),
                                },
                            )
                        )
    return found


_PRINCIPAL: Final = re.compile(r"(?:^|/)sa/([\w.*-]+)$")


def authorization_policy(lines: BlockLines, root: yaml.Node) -> list[RawClaim]:
    """ALLOW: those callers and no others (exclusive where it is one); DENY: forbidden callers; DENY with notPrincipals: exclusive."""
    spec = get(root, "spec")
    named = labels_name(get(spec, "selector", "matchLabels"))
    subjects = [named[0]] if named else []
    action = (text_at(spec, "action") or "ALLOW").upper()
    callers: list[tuple[str, tuple[int, int], bool, str]] = []
    for rule in items(get(spec, "rules")):
        operation = _operation(rule)
        for peer in items(get(rule, "from")):
            for key, negated in (("principals", False), ("notPrincipals", True)):
                for item in items(get(peer, "source", key)):
                    match = _PRINCIPAL.search(scalar(item))
                    if match and "*" not in match.group(1):
                        callers.append((match.group(1), span(item), negated, operation))
    wanted = [caller for caller in callers if caller[2] == (action == "DENY")] if action == "ALLOW" else callers
    found: list[RawClaim] = []
    for subject in subjects:
        names = {name for name, _, _, _ in wanted if name != subject}
        for name, where, negated, operation in wanted:
            if name == subject or action not in ("ALLOW", "DENY"):
                continue
            forbidden = action == "DENY" and not negated
            exclusive = not forbidden and len(names) == 1
            modality = Modality.FORBIDDEN if forbidden else (Modality.EXCLUSIVE if exclusive else Modality.ASSERTED)
            found.append(
                RawClaim(
                    "CALLS",
                    _name(_account(name)),
                    _name(subject),
                    lines.place(*where),
                    f"kubernetes.authorizationpolicy.{action.lower()}",
                    0.9,
                    Via("http" if operation else "", operation),
                    modality,
                    exclusivity="only_by" if exclusive else "",
                    attributes={
                        "policy": text_at(root, "metadata", "name"),
                        "allowed": "false" if forbidden else "true",
                    },
                )
            )
    return found


def _account(name: str) -> str:
    """A service account named after its workload: "bookinfo-productpage" stays, "cart-sa" is cart."""
    return re.sub(r"-(?:sa|service-?account|account)$", "", name)


def _operation(rule: yaml.Node) -> str:
    for target in items(get(rule, "to")):
        methods = [scalar(item) for item in items(get(target, "operation", "methods"))]
        paths = [scalar(item) for item in items(get(target, "operation", "paths"))]
        if methods or paths:
            return " ".join(["|".join(methods), "|".join(paths)]).strip()
    return ""


def virtual_service(lines: BlockLines, root: yaml.Node) -> list[RawClaim]:
    """Routes of a gateway to services: the gateway CALLS them. Routes inside the mesh only split one service's traffic."""
    spec = get(root, "spec")
    gateways = [scalar(item) for item in items(get(spec, "gateways")) if scalar(item) not in ("", "mesh")]
    found: list[RawClaim] = []
    for kind in ("http", "tcp", "tls"):
        for rule in items(get(spec, kind)):
            for route in items(get(rule, "route")):
                host = get(route, "destination", "host")
                name = short_host(scalar(host))[-1] if host is not None else ""
                if not name or host is None:
                    continue
                found += [
                    RawClaim(
                        "CALLS",
                        RawName(gateway.rsplit("/", maxsplit=1)[-1], "service"),
                        _name(name),
                        lines.place(*span(host)),
                        "kubernetes.virtualservice",
                        0.85,
                        Via("http" if kind == "http" else ""),
                    )
                    for gateway in gateways
                    if name != gateway
                ]
    return found
