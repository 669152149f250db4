"""The span log: durable hand-over to the aggregator."""
