"""The services that manifests of one namespace declare, and under which names and addresses they are known. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from designed.addresses import on_internet, short_host
from designed.kinds import Role, role_of
from designed.reader import Fact, RawName, Reading


def squeeze(name: str) -> str:
    """A name for comparison: lower case, letters and digits only."""
    return re.sub(r"[\W_]+", "", name.lower())


class Known:
    """Names of services by address, and what they run. Built once from all readings."""

    def __init__(self, readings: Mapping[str, Reading]) -> None:
        self.by_host: dict[str, str] = {}
        self.technology: dict[str, str] = {}
        self.names: set[str] = set()
        self._alias: dict[str, str] = {}
        facts = [fact for _, reading in sorted(readings.items()) for fact in reading.facts]
        self._workloads(facts)
        for fact in facts:
            if fact.kind == "address":
                name = self.canonical(fact.subject)
                self.names.add(name)
                self.by_host.setdefault(fact.key.lower(), name)
            elif fact.kind == "workload":
                self.names.add(self.canonical(fact.subject))
            technology = fact.attributes.get("technology", "")
            if technology and fact.subject and "$" not in technology:
                self.technology.setdefault(self.canonical(fact.subject), technology)
        self._spelled: dict[str, list[str]] = {}
        for table in (self.by_host, self._alias):
            for spelling, owner in table.items():
                self._spelled.setdefault(owner, []).append(spelling)
        self._squeezed: dict[str, str] = {}
        for name in sorted(self.names):
            self._squeezed.setdefault(squeeze(name), name)

    def _workloads(self, facts: list[Fact]) -> None:
        """A Service and the one workload that it selects are one thing, named like the Service unless both share the name."""
        labels: dict[str, set[str]] = {}
        selectors: dict[str, set[str]] = {}
        for fact in facts:
            if fact.kind == "label":
                labels.setdefault(fact.subject, set()).add(fact.key)
            elif fact.kind == "selector":
                selectors.setdefault(fact.subject, set()).add(fact.key)
        carrying: dict[str, list[str]] = {}
        for workload, have in sorted(labels.items()):
            for label in have:
                carrying.setdefault(label, []).append(workload)
        chosen = {
            service: [w for w in min((carrying.get(label, []) for label in wanted), key=len) if wanted <= labels[w]]
            for service, wanted in sorted(selectors.items())
        }
        selecting: dict[str, list[str]] = {}
        for service, workloads in chosen.items():
            if len(workloads) == 1:
                selecting.setdefault(workloads[0], []).append(service)
        for workload, services in selecting.items():
            # Of several Services the shortest that the workload's name begins with ("web", "web-external", "web-v1").
            name = min(services, key=lambda service: (not workload.startswith(service), len(service), service))
            self._alias.update({other: name for other in (workload, *services) if other != name})
        for service, workloads in chosen.items():
            # Versions of one service: reviews selects reviews-v1 and reviews-v2.
            for workload in workloads:
                if workload.startswith(f"{service}-") and workload not in selecting:
                    self._alias.setdefault(workload, service)
        self._labels = {
            value.split("=", 1)[1]: workload for workload, values in sorted(labels.items()) for value in sorted(values)
        }

    def canonical(self, name: str) -> str:
        """The one name of a workload and its Service."""
        return self._alias.get(name, name)

    def host(self, host: str, about: str = "") -> str | None:
        """The service at a host name. Under a registered domain a first label is a service's name only where `about` (what a setting is about) says so."""
        if host.lower() in self.by_host:
            return self.by_host[host.lower()]
        found = next((self.by_host[short] for short in short_host(host) if short in self.by_host), None)
        if found is not None and on_internet(host):
            words = {squeeze(found), squeeze(about)}
            return found if len(words) == 1 or squeeze(found) + "service" in words else None
        return found

    def find(self, name: str) -> str | None:
        """The service of a written name: exact, as a label of its pods, or with a plural s more or less."""
        if name in self.names:
            return name
        canonical = self.canonical(name)
        if canonical in self.names:
            return canonical
        found = self._squeezed.get(squeeze(name))
        if found is None and name in self._labels and self.canonical(self._labels[name]) in self.names:
            found = self.canonical(self._labels[name])
        if found is None:
            found = self._squeezed.get(squeeze(name) + "s") or (
                self._squeezed.get(squeeze(name)[:-1]) if name.endswith("s") else None
            )
        return found

    def role(self, name: str) -> Role:
        """What a service is, by name and image."""
        return role_of(name, self.technology.get(name, ""))

    def raw(self, name: str, *aliases: str) -> RawName:
        """The service as a raw name with its addresses as aliases."""
        known = dict.fromkeys(a for a in (*aliases, *self._spelled.get(name, ())) if a and a != name)
        return RawName(name, _kind(name, self.technology.get(name, "")), tuple(known))


def _kind(name: str, technology: str) -> str:
    role = role_of(name, technology)
    if {"consul", "zookeeper", "eureka", "etcd"} & set(re.split(r"[\W_]+", f"{name} {technology}".lower())):
        return "service"
    return {
        Role.STORE: "database",
        Role.BROKER: "topic",
        Role.TOPIC: "topic",
        Role.CLIENT: "external",
        Role.EXTERNAL: "external",
    }.get(role, "service")
