"""`deploy/otel-collector.yaml`: every key is one that its component documents, and it holds what the guide promises."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest
import yaml

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "deploy" / "otel-collector.yaml").read_text(encoding="utf-8"))

DURATION = {"type": "string", "pattern": r"^(\d+(\.\d+)?(ms|s|m|h))+$"}
ADDRESS = {"type": "string", "pattern": r"(:\d+$)|(:\d+\}$)"}
WHOLE = {"type": "integer", "minimum": 0}
FLAG = {"type": "boolean"}
TEXT = {"type": "string", "minLength": 1}


def closed(**keys) -> dict:
    return {"type": "object", "properties": keys, "additionalProperties": False}


# As documented: config/configtls, config/configgrpc, exporter/exporterhelper, processor/memorylimiterprocessor, receiver/otlpreceiver,
# extension/healthcheckextension, extension/storage/filestorage (READMEs of the two repositories of the collector).
TLS = closed(
    insecure=FLAG,
    insecure_skip_verify=FLAG,
    ca_file=TEXT,
    ca_pem=TEXT,
    cert_file=TEXT,
    key_file=TEXT,
    server_name_override=TEXT,
    min_version=TEXT,
    max_version=TEXT,
    reload_interval=DURATION,
)
GRPC_SERVER = closed(
    endpoint=ADDRESS,
    transport=TEXT,
    tls=TLS,
    max_recv_msg_size_mib=WHOLE,
    max_concurrent_streams=WHOLE,
    read_buffer_size=WHOLE,
    write_buffer_size=WHOLE,
    keepalive={"type": "object"},
    auth={"type": "object"},
    include_metadata=FLAG,
)
HTTP_SERVER = closed(
    endpoint=ADDRESS,
    tls=TLS,
    cors={"type": "object"},
    max_request_body_size=WHOLE,
    traces_url_path=TEXT,
    include_metadata=FLAG,
    auth={"type": "object"},
    compression_algorithms={"type": "array"},
)
BATCH = closed(flush_timeout=DURATION, min_size=WHOLE, max_size=WHOLE, sizer={"enum": ["items", "bytes"]})
QUEUE = closed(
    enabled=FLAG,
    num_consumers={"type": "integer", "minimum": 1},
    wait_for_result=FLAG,
    block_on_overflow=FLAG,
    sizer={"enum": ["requests", "items", "bytes"]},
    queue_size=WHOLE,
    storage=TEXT,
    batch=BATCH,
)
RETRY = closed(
    enabled=FLAG,
    initial_interval=DURATION,
    max_interval=DURATION,
    max_elapsed_time=DURATION,
    multiplier={"type": "number"},
    randomization_factor={"type": "number"},
)
SCHEMAS = {
    ("receivers", "otlp"): closed(protocols=closed(grpc=GRPC_SERVER, http=HTTP_SERVER)),
    ("processors", "memory_limiter"): closed(
        check_interval=DURATION,
        limit_mib=WHOLE,
        spike_limit_mib=WHOLE,
        limit_percentage={"type": "integer", "maximum": 100},
        spike_limit_percentage={"type": "integer", "maximum": 100},
    ),
    ("exporters", "otlp"): closed(
        endpoint=ADDRESS,
        tls=TLS,
        compression={"enum": ["gzip", "snappy", "zstd", "none"]},
        headers={"type": "object"},
        timeout=DURATION,
        keepalive={"type": "object"},
        balancer_name=TEXT,
        wait_for_ready=FLAG,
        auth={"type": "object"},
        retry_on_failure=RETRY,
        sending_queue=QUEUE,
    ),
    ("extensions", "health_check"): closed(endpoint=ADDRESS, path=TEXT, tls=TLS, response_body={"type": "object"}),
    ("extensions", "file_storage"): closed(
        directory=TEXT,
        timeout=DURATION,
        fsync=FLAG,
        create_directory=FLAG,
        directory_permissions=TEXT,
        compaction=closed(
            on_start=FLAG,
            on_rebound=FLAG,
            directory=TEXT,
            max_transaction_size=WHOLE,
            cleanup_on_start=FLAG,
            rebound_needed_threshold_mib=WHOLE,
            rebound_trigger_threshold_mib=WHOLE,
            check_interval=DURATION,
        ),
    ),
}
COMPONENTS = [(kind, name) for kind in ("extensions", "receivers", "processors", "exporters") for name in CONFIG[kind]]


@pytest.mark.parametrize(("kind", "name"), COMPONENTS)
def test_every_key_is_documented(kind, name):
    jsonschema.validate(CONFIG[kind][name], SCHEMAS[kind, name.partition("/")[0]])


def test_the_schemas_refuse_a_key_that_does_not_exist():
    broken = CONFIG["exporters"]["otlp/nexus"] | {"retry": {}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMAS["exporters", "otlp"])


def test_the_pipeline_uses_what_is_defined_and_all_of_it():
    service = CONFIG["service"]
    assert set(service) <= {"extensions", "pipelines", "telemetry"}
    assert set(service["extensions"]) == set(CONFIG["extensions"])
    traces = service["pipelines"]["traces"]
    for kind in ("receivers", "processors", "exporters"):
        assert set(traces[kind]) == set(CONFIG[kind])
    assert traces["processors"][0] == "memory_limiter"


def test_no_exporter_loses_spans_while_its_target_is_away():
    for exporter in CONFIG["exporters"].values():
        assert exporter["retry_on_failure"]["enabled"]
        assert exporter["retry_on_failure"]["max_elapsed_time"] == "0s"
        queue = exporter["sending_queue"]
        assert queue["storage"] in CONFIG["extensions"]
        assert 0 < queue["batch"]["min_size"] <= queue["batch"]["max_size"] < queue["queue_size"]


def test_traces_go_to_nexus_and_to_tempo_where_compose_says():
    endpoints = " ".join(exporter["endpoint"] for exporter in CONFIG["exporters"].values())
    assert set(re.findall(r"env:(\w+)", endpoints)) == {"NEXUS_OTLP_ENDPOINT", "TEMPO_OTLP_ENDPOINT"}
