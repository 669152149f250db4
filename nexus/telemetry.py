"""The one module of metric names. Each metric is an object with its documentation; `/metrics` shows `REGISTRY`.

Labels have few values by nature (a source, a reason, a role): never a service, an edge or a document.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY: Final = CollectorRegistry()


def describe_metrics() -> list[tuple[str, str, str]]:
    """(name, type, documentation) of each metric, sorted; the reference is made from this."""
    found = []
    for metric in REGISTRY.collect():
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        found.append((name, metric.type, metric.documentation))
    return sorted(found)


def metric_names() -> list[str]:
    """Names of all metrics, as Prometheus shows them."""
    return [name for name, _, _ in describe_metrics()]


HTTP_REQUESTS: Final = Counter(
    "nexus_http_requests_total", "Requests to the API by status class.", ["status"], registry=REGISTRY
)
HTTP_SECONDS: Final = Histogram(
    "nexus_http_request_seconds", "Time from request to the last byte of the answer.", registry=REGISTRY
)
READY: Final = Gauge("nexus_ready", "1 while every role of this process runs.", registry=REGISTRY)

OTLP_REQUESTS: Final = Counter(
    "nexus_otlp_requests_total",
    "Export requests by transport and answer (gRPC code name or HTTP status).",
    ["transport", "answer"],
    registry=REGISTRY,
)
OTLP_SPANS: Final = Counter("nexus_otlp_spans_total", "Spans acknowledged: durable in the span log.", registry=REGISTRY)
OTLP_REJECTED: Final = Counter(
    "nexus_otlp_rejected_spans_total",
    "Spans refused one by one, by reason; their senders were told.",
    ["reason"],
    registry=REGISTRY,
)
OTLP_REFUSED: Final = Counter(
    "nexus_otlp_refused_requests_total",
    "Requests refused with a retry time, by what was full or away.",
    ["reason"],
    registry=REGISTRY,
)
OTLP_BYTES: Final = Counter(
    "nexus_otlp_received_bytes_total",
    "Bytes of request bodies as they arrived, by transport.",
    ["transport"],
    registry=REGISTRY,
)
OTLP_WARNINGS: Final = Counter(
    "nexus_otlp_warnings_total",
    "Requests that were taken and are probably a mistake, by kind.",
    ["kind"],
    registry=REGISTRY,
)
OTLP_BATCH_SPANS: Final = Histogram(
    "nexus_otlp_batch_spans",
    "Spans accepted per request.",
    buckets=(0, 1, 10, 100, 512, 1_000, 2_000, 5_000, 10_000, 100_000),
    registry=REGISTRY,
)
OTLP_ACK_SECONDS: Final = Histogram(
    "nexus_otlp_ack_seconds", "Time from a complete request to its answer.", registry=REGISTRY
)
OTLP_BYTES_IN_FLIGHT: Final = Gauge(
    "nexus_otlp_in_flight_bytes", "Bytes of requests that are being received or wait for the log.", registry=REGISTRY
)
OTLP_CONNECTIONS: Final = Gauge("nexus_otlp_http_connections", "Open OTLP/HTTP connections.", registry=REGISTRY)
LOG_BYTES: Final = Gauge("nexus_span_log_bytes", "Size of the span log on disk.", registry=REGISTRY)
LOG_LAG_BYTES: Final = Gauge(
    "nexus_span_log_lag_bytes", "Bytes of the span log that are acknowledged and not rolled up yet.", registry=REGISTRY
)
LOG_CORRUPT_BYTES: Final = Counter(
    "nexus_span_log_corrupt_bytes_total",
    "Bytes of the span log that were damaged and had to be skipped.",
    registry=REGISTRY,
)
LOG_WRITE_FAILURES: Final = Counter(
    "nexus_span_log_write_failures_total",
    "Writes to the span log that failed (full disk); their senders were asked to retry.",
    registry=REGISTRY,
)
LOG_BAD_MESSAGES: Final = Counter(
    "nexus_span_log_bad_messages_total",
    "Messages of the Kafka topic that are no spans; counted as rejected and passed over.",
    registry=REGISTRY,
)
LOG_LOST_MESSAGES: Final = Counter(
    "nexus_span_log_lost_messages_total",
    "Messages that the Kafka topic let go before they were rolled up.",
    registry=REGISTRY,
)
LOG_LAG_MESSAGES: Final = Gauge(
    "nexus_span_log_lag_messages",
    "Messages of this process's Kafka partitions that are not rolled up yet.",
    registry=REGISTRY,
)
LOG_PARTITIONS: Final = Gauge(
    "nexus_span_log_partitions", "Kafka partitions that this process rolls up.", registry=REGISTRY
)

# Rolling up.
AGGREGATE_BATCHES: Final = Counter(
    "nexus_aggregate_batches_total",
    "Batches of spans by outcome: done (rolled up and committed) or failed.",
    ["outcome"],
    registry=REGISTRY,
)
AGGREGATE_SECONDS: Final = Histogram(
    "nexus_aggregate_batch_seconds",
    "Time of one batch from reading the log to the commit.",
    buckets=(0.05, 0.2, 0.5, 1, 2, 5, 10, 30),
    registry=REGISTRY,
)
AGGREGATE_SPANS: Final = Counter("nexus_aggregate_spans_total", "Spans that were rolled up.", registry=REGISTRY)
AGGREGATE_WINDOWS: Final = Counter(
    "nexus_aggregate_windows_total", "Windows whose rows were replaced.", registry=REGISTRY
)
AGGREGATE_ASIDE: Final = Counter(
    "nexus_aggregate_aside_spans_total",
    "Spans that could not be rolled up and were set aside (GET /status says why).",
    registry=REGISTRY,
)
AGGREGATE_LATE: Final = Counter(
    "nexus_aggregate_late_spans_total", "Spans that came for windows that had settled.", registry=REGISTRY
)
AGGREGATE_DUPLICATES: Final = Counter(
    "nexus_aggregate_duplicate_spans_total",
    "Deliveries of spans that were there already; they are counted once.",
    registry=REGISTRY,
)
AGGREGATE_BEHIND: Final = Gauge(
    "nexus_aggregate_behind_seconds",
    "How long spans have been waiting to be rolled up without a break; 0 where none waits.",
    registry=REGISTRY,
)

# Polling a Tempo.
TEMPO_CYCLES: Final = Counter(
    "nexus_tempo_cycles_total", "Cycles of the poller by outcome: done or failed.", ["outcome"], registry=REGISTRY
)
TEMPO_REQUESTS: Final = Counter(
    "nexus_tempo_requests_total", "Requests to Tempo, attempts included.", registry=REGISTRY
)
TEMPO_TRACES: Final = Counter(
    "nexus_tempo_traces_total", "Traces that were read and had something new.", registry=REGISTRY
)
TEMPO_SPANS: Final = Counter("nexus_tempo_spans_total", "Spans of those traces.", registry=REGISTRY)
TEMPO_GAPS: Final = Counter(
    "nexus_tempo_gaps_total", "Windows of which something could not be read; they are on record.", registry=REGISTRY
)
TEMPO_LAG: Final = Gauge(
    "nexus_tempo_lag_seconds", "Age of the newest moment up to which traces were read.", registry=REGISTRY
)

# Drift. Numbers are those of the newest run of all environments of the default tenant, as a reader of the webhook clearance sees it.
DRIFT_FINDINGS: Final = Gauge(
    "nexus_drift_findings",
    "Findings of the newest drift run by flag and status.",
    ["flag", "status"],
    registry=REGISTRY,
)
DRIFT_UNDECIDED: Final = Gauge(
    "nexus_drift_undecided_findings",
    "Findings of the newest drift run that the evidence does not decide.",
    registry=REGISTRY,
)
DRIFT_STATES: Final = Gauge(
    "nexus_drift_finding_states",
    "Findings of the newest drift run by state (new, open, acknowledged, ...), confirmed ones left out.",
    ["state"],
    registry=REGISTRY,
)
DRIFT_RATIO: Final = Gauge(
    "nexus_drift_ratio",
    "accuracy, coverage, decidability and traffic_weighted_coverage of the newest drift run, 0 to 1.",
    ["ratio"],
    registry=REGISTRY,
)
DRIFT_RUNS: Final = Counter(
    "nexus_drift_runs_total", "Drift runs by outcome: done, unchanged or failed.", ["outcome"], registry=REGISTRY
)
DRIFT_RUN_SECONDS: Final = Histogram(
    "nexus_drift_run_seconds",
    "Time of a drift run from reading to the stored report.",
    buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)
DRIFT_LAST_SUCCESS: Final = Gauge(
    "nexus_drift_last_success_timestamp_seconds",
    "When the last drift run succeeded, seconds since the epoch.",
    registry=REGISTRY,
)
DRIFT_COVERED_DAYS: Final = Gauge(
    "nexus_drift_covered_days", "Days of the newest run's window on which traces came in.", registry=REGISTRY
)
DRIFT_WEBHOOKS: Final = Counter(
    "nexus_drift_webhooks_total", "Webhook deliveries by outcome: delivered or failed.", ["outcome"], registry=REGISTRY
)
