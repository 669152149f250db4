"""What is deployed fits the code: settings by name, ports, roles, files that are mounted, no secret in a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from nexus.settings import Settings
from nexus.settings.load import unknown_variables
from nexus.wiring.kafka import needed_retention
from nexus.wiring.process import known_roles
from nexus.wiring.supervisor import STOP_DEADLINE_S

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = ROOT / "deploy" / "kubernetes"
KAFKA = ROOT / "deploy" / "kubernetes-kafka"


def manifests() -> list[dict[str, Any]]:
    return [
        document
        for path in sorted(KUBERNETES.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
        if document
    ]


def on_kafka() -> list[dict[str, Any]]:
    return [
        document
        for path in sorted(KAFKA.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
        if document
    ]


def containers(of: Callable[[], list[dict[str, Any]]] = manifests) -> list[dict[str, Any]]:
    return [
        c
        for m in of()
        if "$patch" not in m
        if m["kind"] in {"Deployment", "StatefulSet"}
        for c in m["spec"]["template"]["spec"]["containers"]
    ]


def test_compose_uses_settings_that_exist() -> None:
    for name in ("nexus", "aggregate"):
        assert unknown_variables(COMPOSE["services"][name]["environment"]) == []
    image = re.findall(r"(NEXUS_\w+)=", (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8"))
    assert image
    assert unknown_variables(dict.fromkeys(image, "")) == []


def test_what_an_image_compiled_is_for_any_processor() -> None:
    text = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^RUN .*NUMBA_CPU_NAME=generic .*compile_ahead", text.replace("\\\n", ""), re.MULTILINE)
    assert re.search(r"^ENV .*NUMBA_CPU_NAME=generic ", text.replace("\\\n", ""), re.MULTILINE)


def test_compose_holds_no_secret_and_is_bound_to_this_machine() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert not re.search(r"PASSWORD: (?!\$\{)\S", text)
    for service in COMPOSE["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_compose_mounts_files_that_exist() -> None:
    volumes = [v for s in COMPOSE["services"].values() for v in s.get("volumes", []) if v.startswith("./")]
    assert volumes
    assert [v for v in volumes if not (ROOT / v.split(":")[0]).exists()] == []
    named = {
        v.split(":")[0] for s in COMPOSE["services"].values() for v in s.get("volumes", []) if re.match(r"\w+:", v)
    }
    assert named == set(COMPOSE["volumes"])


def test_compose_waits_for_health_and_has_limits() -> None:
    for name, service in COMPOSE["services"].items():
        assert service["deploy"]["resources"]["limits"], name
        for dependency, rule in (service.get("depends_on") or {}).items():
            target = COMPOSE["services"][dependency]
            assert rule["condition"] != "service_healthy" or "healthcheck" in target or "build" in target


@pytest.mark.parametrize("container", containers(), ids=lambda c: ",".join(c["args"][2:]))
def test_kubernetes_runs_roles_that_exist_without_rights(container: dict[str, Any]) -> None:
    assert set(container["args"][2].split(",")) <= {*known_roles()}
    assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container)
    assert unknown_variables({e["name"]: "" for e in container["env"]}) == []


def test_kubernetes_parts_fit_together() -> None:
    found = manifests()
    listed = next(m for m in found if m["kind"] == "Kustomization")["resources"]
    assert sorted(listed) == sorted(p.name for p in KUBERNETES.glob("*.yaml") if p.name != "kustomization.yaml")
    assert unknown_variables(next(m for m in found if m["kind"] == "ConfigMap")["data"]) == []
    ports = {p["name"]: p["containerPort"] for c in containers() for p in c["ports"]}
    listening = {
        name.removeprefix("NEXUS_"): int(value.rpartition(":")[2])
        for name, value in next(m for m in found if m["kind"] == "ConfigMap")["data"].items()
        if re.search(r":\d+$", value)
    }
    assert ports == {
        "otlp-grpc": listening["OTLP__GRPC"],
        "otlp-http": listening["OTLP__HTTP"],
        "http": listening["HTTP__ADDRESS"],
        "metrics": listening["TELEMETRY__LISTEN"],
    }
    for service in (m for m in found if m["kind"] == "Service"):
        for port in service["spec"]["ports"]:
            assert ports[port["targetPort"]] == port["port"]


def test_compose_keeps_spans_in_kafka_as_long_as_they_may_be_needed() -> None:
    kept = int(COMPOSE["services"]["kafka"]["environment"]["KAFKA_LOG_RETENTION_HOURS"])
    assert needed_retention(Settings()).total_seconds() <= kept * 3600


@pytest.mark.parametrize("container", containers(on_kafka), ids=lambda c: ",".join(c["args"][2:]))
def test_kubernetes_on_kafka_runs_roles_that_exist_without_rights(container: dict[str, Any]) -> None:
    assert set(container["args"][2].split(",")) <= {*known_roles()}
    assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]
    assert unknown_variables({e["name"]: "" for e in container["env"]}) == []


def test_kubernetes_on_kafka_replaces_the_local_log_and_nothing_else() -> None:
    found, base = on_kafka(), manifests()
    overlay = next(m for m in found if m["kind"] == "Kustomization")
    assert sorted([*overlay["resources"][1:], *(p["path"] for p in overlay["patches"])]) == sorted(
        p.name for p in KAFKA.glob("*.yaml") if p.name != "kustomization.yaml"
    )
    names = {(m["kind"], m["metadata"]["name"]) for m in base if m["kind"] != "Kustomization"}
    for patch in overlay["patches"]:
        for document in yaml.safe_load_all((KAFKA / patch["path"]).read_text(encoding="utf-8")):
            assert (document["kind"], document["metadata"]["name"]) in names
    data = next(m for m in found if m["kind"] == "ConfigMap")["data"]
    assert unknown_variables(data) == []
    # Somewhere every role runs, and the service of the spans finds those that listen.
    roles = {
        role
        for c in [*containers(on_kafka), *(c for c in containers() if "4317" not in str(c["ports"]))]
        for role in c["args"][2].split(",")
    }
    assert roles >= {*known_roles()} - {"slack"}
    selector = next(m for m in found if m["kind"] == "Service" and m["metadata"]["name"] == "nexus-otlp")["spec"][
        "selector"
    ]
    labels = next(m for m in found if m["kind"] == "Deployment" and "receive" in m["metadata"]["name"])["spec"][
        "template"
    ]["metadata"]["labels"]
    assert selector == labels


@pytest.mark.parametrize("of", [manifests, on_kafka], ids=["local", "kafka"])
def test_pods_have_time_to_stop_and_every_one_is_scraped(of: Callable[[], list[dict[str, Any]]]) -> None:
    found = [*manifests(), *of()]
    pods = [m["spec"]["template"] for m in of() if "$patch" not in m if m["kind"] in {"Deployment", "StatefulSet"}]
    monitor = next(m for m in found if m["kind"] == "ServiceMonitor")
    services = [
        m["spec"]
        for m in found
        if m["kind"] == "Service"
        and "ports" in m["spec"]
        and monitor["spec"]["selector"]["matchLabels"].items() <= m["metadata"]["labels"].items()
    ]
    if of is on_kafka:
        services.append(
            {
                "selector": next(
                    m for m in on_kafka() if m["kind"] == "Service" and m["metadata"]["name"] == "nexus-otlp"
                )["spec"]["selector"],
                "ports": [{"name": "metrics"}],
            }
        )
    for pod in pods:
        (container,) = pod["spec"]["containers"]
        assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container)
        assert "metrics" in {port["name"] for port in container["ports"]}
        before = int(
            (container.get("lifecycle") or {"preStop": {"exec": {"command": ["0"]}}})["preStop"]["exec"]["command"][-1]
        )
        assert pod["spec"]["terminationGracePeriodSeconds"] >= before + STOP_DEADLINE_S * len(
            container["args"][2].split(",")
        )
        mine = [s for s in services if s["selector"].items() <= pod["metadata"]["labels"].items()]
        assert any(port["name"] == monitor["spec"]["endpoints"][0]["port"] for s in mine for port in s["ports"])


def test_images_are_pinned_and_nothing_runs_as_root() -> None:
    images = {
        name: service["image"]
        for name, service in COMPOSE["services"].items()
        if "image" in service and service["image"] != "khala-nexus"
    }
    assert images
    assert [name for name, image in images.items() if not re.search(r":v?\d+\.\d+", image)] == []
    assert (
        re.findall(
            r"^FROM (?!python:3\.\d+\.\d+-)", (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
        )
        == []
    )
    for pod in (
        m["spec"]["template"]["spec"]
        for m in [*manifests(), *on_kafka()]
        if "$patch" not in m
        if m["kind"] in {"Deployment", "StatefulSet"}
    ):
        assert pod["securityContext"]["runAsNonRoot"]
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        # Where the program writes there is a volume.
        assert {"/var/lib/nexus", "/tmp"} <= {mount["mountPath"] for mount in container["volumeMounts"]}  # noqa: S108  # the image's
