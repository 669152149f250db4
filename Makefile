# Everything that a newcomer or CI does. `make` prints this list.
SHELL := /bin/sh
.DEFAULT_GOAL := help

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p >/dev/null 2>&1 && { echo $$p; break; }; done)
BIN := .venv/bin
STAMP := .venv/.installed
HTTP ?= 127.0.0.1:8000
OTLP_GRPC ?= 127.0.0.1:4317
OTLP_HTTP ?= 127.0.0.1:4318
# Corpora and captures that are not part of this repository; the eval targets measure them in place.
SHARED_DIR ?= ../shared
export SHARED_DIR
# Some images forbid Python to keep what it compiled: every start of a process would compile all of it again.
export PYTHONDONTWRITEBYTECODE :=

##@ Start here
.PHONY: help demo test install check-kafka
help: ## Print this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' Makefile

demo: $(STAMP) ## Start everything, feed it documents and traces, show the drift, stay up (HTTP= OTLP_GRPC= OTLP_HTTP= move the ports)
	@exec $(BIN)/python examples/demo/run.py --http $(HTTP) --otlp-grpc $(OTLP_GRPC) --otlp-http $(OTLP_HTTP)

test: $(STAMP) ## Run the whole test suite, with everything that it needs, in two processes
	$(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

install: $(STAMP) ## Make .venv with the command .venv/bin/nexus

# A stamp, not the folder: an install that broke off is taken up again.
$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

check-kafka: $(STAMP) ## Every case and random run through a Kafka-compatible broker: 1, 3 and 6 partitions, kills and rebalances
	KAFKA_MATRIX=full $(BIN)/pytest tests/integration/test_kafka_log.py tests/e2e/test_kafka_group.py

##@ Measure (figures and ratios; nothing is asserted)
.PHONY: bench-receive bench-aggregate bench-kafka bench-history bench-tempo bench-designed bench-diff bench-search bench-recall bench-pages
bench-receive: $(STAMP) ## Acknowledged durable spans a second, CPU, latency, memory
	$(BIN)/python bench/receive.py

bench-aggregate: $(STAMP) ## Spans a second through the whole path, at 1x, 3x and 10x
	$(BIN)/python bench/aggregate.py

bench-kafka: $(STAMP) ## CPU of each step through Kafka, and what linked traces add
	$(BIN)/python bench/kafka.py

bench-history: $(STAMP) ## Reading edges out of a long history
	$(BIN)/python bench/history.py

bench-tempo: $(STAMP) ## Traces a second from a Tempo, requests a trace, memory
	$(BIN)/python bench/tempo.py

bench-designed: $(STAMP) ## Documents to designed edges, first and second run; cost of one document by its length
	$(BIN)/python bench/designed_speed.py
	$(BIN)/python bench/designed_growth.py

bench-diff: $(STAMP) ## Fifty thousand designed against fifty thousand observed edges
	$(BIN)/python bench/diff_speed.py --embedded .nexus-bench

bench-search: $(STAMP) ## Search and ingest
	$(BIN)/python bench/search_speed.py

bench-recall: $(STAMP) ## Recall and latency of vector search by the share of an index that a reader may see
	$(BIN)/python bench/vector_recall.py

bench-pages: $(STAMP) ## When the pages can be used (needs chromium and a running `make demo`)
	$(BIN)/python bench/pages.py --url http://$(HTTP)

.PHONY: soak
soak: $(STAMP) ## Twice the sustainable load, kills, a full disk, a killed database: what is lost, memory, recovery (ARGS="--minutes 10 --log kafka --faults ...")
	$(BIN)/python bench/soak.py $(ARGS)

.PHONY: eval-designed eval-drift eval-search eval-answers eval-scanner eval-evidence fuzz-api fuzz-mcp
eval-designed: $(STAMP) ## Precision and recall of claims on labelled documents (SHARED_DIR)
	$(BIN)/python bench/eval_designed.py

eval-drift: $(STAMP) ## False absences, false news and time to detection on a simulator with known truth
	$(BIN)/python bench/eval_drift.py

eval-search: $(STAMP) ## nDCG and recall on labelled queries (SHARED_DIR), and what each expansion adds
	$(BIN)/python bench/eval_search.py
	$(BIN)/python bench/eval_expansions.py

eval-answers: $(STAMP) ## False claims caught, true claims wrongly flagged, abstention, calibration
	$(BIN)/python bench/eval_answers.py

fuzz-api: $(STAMP) ## Every route against its own description, for long (EXAMPLES=200)
	$(BIN)/python bench/fuzz_api.py $(or $(EXAMPLES),200)

fuzz-mcp: $(STAMP) ## Every tool with arguments that no agent should send
	$(BIN)/python bench/fuzz_mcp.py

eval-scanner: $(STAMP) ## Precision and recall of the secret scanner
	$(BIN)/python bench/eval_scanner.py

eval-evidence: $(STAMP) ## When evidence is called weak
	$(BIN)/python bench/eval_evidence.py

##@ For contributors
.PHONY: check lint format types layers compiled lock docs clean
check: ## What CI runs: style, types and layers beside one another, then tests
	@$(MAKE) --no-print-directory --jobs 2 types lint layers compiled
	@$(MAKE) --no-print-directory test

lint: $(STAMP) ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## Lay out what you wrote
	$(BIN)/ruff format .

types: $(STAMP) ## Types
	$(BIN)/mypy

layers: $(STAMP) ## Which part may import which
	$(BIN)/lint-imports

compiled: $(STAMP) ## Compile what is compiled on first use, so that not every process of the tests begins with it
	$(BIN)/python -m nexus.wiring.compile_ahead

lock: ## Take the newest versions that pyproject.toml allows into requirements.lock
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --quiet --upgrade --output-file requirements.lock

docs: $(STAMP) ## Make the generated reference
	$(BIN)/python docs/generate.py

screenshots: $(STAMP) ## Take the pictures of docs/pages from a running demo (needs chromium)
	$(BIN)/python docs/screenshots.py --url http://$(HTTP)

clean: ## Remove the environment, caches and the demo's data
	rm -rf .venv .nexus-demo artifacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
