"""Whose address a manifest's setting is: hosts of others on the internet, arguments, settings files inside a ConfigMap."""

from __future__ import annotations

import pytest

from designed.pipeline import designed
from designed.resolve import is_weak
from nexus.model.document import DocumentRef, SourceText
from nexus.plugins import load_plugins


def calls(path: str, body: str) -> set[str]:
    """ "source target" of every claim that counts."""
    text = SourceText(DocumentRef(path, path, path, "1"), body, ".yaml", path)
    result = designed([text], load_plugins("designed.readers", "READER"))
    return {f"{c.source} {c.target}" for _, _, c in result.claims if not is_weak(c)}


COMPOSE = """services:
  web:
    image: x
    environment: [{setting}]
  api: {{image: y}}
  orders: {{image: z}}
"""


@pytest.mark.parametrize(
    ("setting", "target"),
    [
        ("STRIPE_URL=https://api.stripe.com/v1", "web stripe"),
        ("ORDERS_URL=https://orders.prod.example.com", "web orders"),
        ("BACKEND_URL=http://api:8080", "web api"),
        ("BACKEND_URL=http://api.shop.svc.cluster.local:8080", "web api"),
        ("BACKEND_URL=http://api.service.consul:8080", "web api"),
    ],
)
def test_a_host_is_a_service_of_this_system_or_somebody_elses(setting: str, target: str) -> None:
    assert calls("compose.yaml", COMPOSE.format(setting=setting)) == {target}


@pytest.mark.parametrize(
    "command",
    ["[serve, '--orders=orders:9000']", "serve --upstream http://orders", "[serve, --orders-addr, 'orders:80']"],
)
def test_an_argument_holds_an_address(command: str) -> None:
    body = f"services:\n  web:\n    image: x\n    command: {command}\n  orders: {{image: z}}\n"
    assert calls("compose.yaml", body) == {"web orders"}


WORKLOAD = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  template:
    spec:
      containers: [{{name: {name}, image: x}}]
      volumes: [{{name: c, configMap: {{name: cfg}}}}]
---
"""
CONFIG = """apiVersion: v1
kind: ConfigMap
metadata: {name: cfg}
data:
  application.yml: |
    catalog:
      url: http://catalog/api
  other.properties: |
    users.base-url=http://users:8080
  script.sh: |
    curl http://elsewhere:80
"""


def test_settings_files_of_a_config_map_are_the_one_workloads_that_mounts_them() -> None:
    one = WORKLOAD.format(name="orders")
    assert calls("k8s.yaml", one + CONFIG) == {"orders catalog", "orders users"}
    assert calls("k8s.yaml", one + WORKLOAD.format(name="billing") + CONFIG) == set()
