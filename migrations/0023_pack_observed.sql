-- Latency sketches and sample traces of rows, packed (aggregator/codec.py). Rows of the previous release keep theirs in `bags` and `examples`, and are read as they are.
ALTER TABLE observed_row ADD COLUMN sketches bytea NOT NULL DEFAULT '', ADD COLUMN shown bytea NOT NULL DEFAULT '', ALTER COLUMN examples SET DEFAULT '[]';
ALTER TABLE observed_revised ADD COLUMN sketches bytea NOT NULL DEFAULT '', ADD COLUMN shown bytea NOT NULL DEFAULT '', ALTER COLUMN examples SET DEFAULT '[]';
