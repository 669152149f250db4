-- What a refresh of many documents has read so far. The refresh itself is one transaction; these rows are written beside it, so that one that was
-- interrupted goes on where it was, and deleted with its end. `key` says of what text, by what readers and by what names it was read.
CREATE UNLOGGED TABLE designed_kept (
    tenant text NOT NULL,
    key text NOT NULL,
    body jsonb NOT NULL,
    PRIMARY KEY (tenant, key)
);
