"""Hosts that nothing maps to a service, behind which a documented target may be: by a telling word in their name."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from diff.subject import Subject
from nexus.model.edge import ObservedEdge
from nexus.model.names import words
from nexus.model.service import NodeKind

if TYPE_CHECKING:
    from diff.world import World

# Words that say nothing about which service a host is.
_PLAIN = frozenset(
    "service svc api app com net org io dev local internal prod staging test example www http https cluster server host gateway db database".split()
)


# Words of hosts that pass calls on: which service answers is not in their name.
_BETWEEN = frozenset(
    "lb elb alb nlb loadbalancer balancer proxy gateway gw apigw mesh envoy ingress egress nginx haproxy traefik istio linkerd router vip".split()
)


def between(subject: Subject, world: World) -> list[ObservedEdge]:
    """Unmapped hosts that the source calls and that pass calls on: the target's may be among them."""
    if subject.relation != "CALLS" or subject.target.kind in (NodeKind.DATABASE, NodeKind.TOPIC):
        return []
    return _unmapped(subject, world, _BETWEEN)


def hiding(subject: Subject, world: World) -> list[ObservedEdge]:
    """Unmapped hosts that the source calls and whose name shares a telling word with the target."""
    telling = {word for spelling in subject.target.spellings for word in words(spelling) if len(word) > 2}
    return _unmapped(subject, world, telling - _PLAIN)


def _unmapped(subject: Subject, world: World, telling: AbstractSet[str]) -> list[ObservedEdge]:
    """Calls of the source to unmapped hosts with one of those words, most calls first."""
    loose = [edge for key in subject.source.identities for edge in world.loose.get(key, ())]
    return sorted((e for e in loose if telling & set(words(e.target.name))), key=lambda e: (-e.calls, e.target.name))
