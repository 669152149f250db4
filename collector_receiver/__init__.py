"""Takes spans (OTLP, Tempo, files), makes them durable, and only then says so."""
