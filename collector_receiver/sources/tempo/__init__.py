"""Polling Grafana Tempo: complete, restartable, and honest about what could not be read.

Tempo's search has no paging and returns a first-come subset, so a window is halved until its answer is below the limit
(`listing`); each trace is then fetched by id (`fetching`), decoded as an OTLP request, and appended to the span log before the
cursor moves (`reading`, `poller`). What was not read is a range on record, never an absence.
"""
