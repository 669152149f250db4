-- What an edge did on each day, without the texts, sketches and sample traces of its row: the diff judges silence from months of days of every edge.
-- Kept by the database itself, so that whatever writes rows, this release or the previous one beside it, keeps it too (docs/adr/0025).
CREATE TABLE observed_day (
    -- In an order that leaves no gaps between columns.
    edge bigint NOT NULL,
    calls bigint NOT NULL,
    messages bigint NOT NULL,
    -- Days since the epoch, and the second of the day in which it was seen first.
    day integer NOT NULL,
    first_second integer NOT NULL,
    shard smallint NOT NULL,
    -- Distinct sample traces at least: one may be shown as failed, as slow and as ordinary.
    traces smallint NOT NULL,
    tenant text NOT NULL,
    PRIMARY KEY (tenant, day, edge, shard)
) WITH (fillfactor = 90);

CREATE FUNCTION observed_day_put() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.calls <= 0 AND NEW.messages <= 0 AND NEW.shown = '' THEN
        DELETE FROM observed_day WHERE tenant = NEW.tenant AND day = NEW.start / 86400 AND edge = NEW.edge AND shard = NEW.shard;
        RETURN NULL;
    END IF;
    INSERT INTO observed_day (tenant, day, edge, shard, calls, messages, traces, first_second)
    VALUES (NEW.tenant, NEW.start / 86400, NEW.edge, NEW.shard, NEW.calls, NEW.messages, (octet_length(NEW.shown) / 33 + 2) / 3, coalesce(NEW.first_ns / 1000000000 - NEW.start, 0))
    ON CONFLICT (tenant, day, edge, shard) DO UPDATE
    SET calls = excluded.calls, messages = excluded.messages, traces = excluded.traces, first_second = excluded.first_second;
    RETURN NULL;
END $$;

CREATE FUNCTION observed_day_drop() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM observed_day WHERE tenant = OLD.tenant AND day = OLD.start / 86400 AND edge = OLD.edge AND shard = OLD.shard;
    RETURN NULL;
END $$;

CREATE TRIGGER observed_day_put AFTER INSERT OR UPDATE ON observed_row FOR EACH ROW WHEN (NEW.grain = 2) EXECUTE FUNCTION observed_day_put();
CREATE TRIGGER observed_day_drop AFTER DELETE ON observed_row FOR EACH ROW WHEN (OLD.grain = 2) EXECUTE FUNCTION observed_day_drop();

INSERT INTO observed_day (tenant, day, edge, shard, calls, messages, traces, first_second)
SELECT tenant, start / 86400, edge, shard, calls, messages, (octet_length(shown) / 33 + 2) / 3, coalesce(first_ns / 1000000000 - start, 0)
FROM observed_row
WHERE grain = 2 AND (calls > 0 OR messages > 0 OR shown <> '');
