-- Rows of hours and days by their time too: who asks for a range in which few edges have rows would look at each of fifty thousand edges in turn.
-- One short entry a row when it is first written; a row that is written again stays where it is in the index. It is an index of minutes and not of `start`, for those who ask
-- by it alone: one of `start` would tempt the planner away from the key wherever statistics do not know the newest rows (docs/adr/0031).
SET LOCAL lock_timeout = '60s';

CREATE OR REPLACE FUNCTION observed_row_add(of_grain integer, at bigint, parent text DEFAULT 'observed_row') RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    width CONSTANT bigint := observed_row_width(of_grain);
    low CONSTANT bigint := at / width * width;
    made CONSTANT text := format('observed_row_g%s_%s', of_grain, to_char(to_timestamp(low) AT TIME ZONE 'UTC', 'YYYYMMDD'));
BEGIN
    PERFORM pg_advisory_xact_lock(5281874);
    IF to_regclass(made) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
    LOCK TABLE observed_row_default IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) WITH (fillfactor = %s, autovacuum_vacuum_scale_factor = 0.05)', made, parent, CASE of_grain WHEN 0 THEN 90 ELSE 70 END);
    -- A row that moves does not change: triggers are for those that do.
    ALTER TABLE observed_row_default DISABLE TRIGGER USER;
    -- Aggregators look up which minutes have rows at all; readers which edges have rows in a range.
    EXECUTE format(CASE of_grain WHEN 0 THEN 'CREATE INDEX ON %I (tenant, start)' ELSE 'CREATE INDEX ON %I (tenant, (start / 60))' END, made);
    EXECUTE format(
        'WITH moved AS (DELETE FROM observed_row_default WHERE grain = %s AND start >= %s AND start < %s RETURNING *) INSERT INTO %I SELECT * FROM moved', of_grain, low, low + width, made
    );
    ALTER TABLE observed_row_default ENABLE TRIGGER USER;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s, %s) TO (%s, %s)', parent, made, of_grain, low, of_grain, low + width);
    RETURN true;
END
$$;

DO $$
DECLARE
    made text;
BEGIN
    FOR made IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'observed_row'::regclass AND c.relname ~ '^observed_row_g[12]_' LOOP
        EXECUTE format('CREATE INDEX ON %I (tenant, (start / 60))', made);
    END LOOP;
END
$$;
CREATE INDEX observed_row_default_minute ON observed_row_default (tenant, grain, (start / 60));
