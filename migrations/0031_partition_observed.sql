-- Rows by partition, so that those past their retention are dropped and not deleted one by one. Minutes lie in partitions of a day, hours of 8 days, days of 64; eras and
-- pending rows have one each. The default one takes what is beyond those that there are; aggregators make the next ones in time (nexus/store/observed_partition.py).
-- Name, columns and keys stay, so that the statements of the previous release go on working. Until the rows are copied they can be read and not written:
-- aggregators wait, and nothing that is received meanwhile is lost.
SET LOCAL lock_timeout = '60s';
LOCK TABLE observed_row IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE observed_row_parted (LIKE observed_row INCLUDING DEFAULTS, CONSTRAINT observed_row_key PRIMARY KEY (tenant, grain, edge, start, shard)) PARTITION BY RANGE (grain, start);
CREATE TABLE observed_row_default PARTITION OF observed_row_parted DEFAULT
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);
-- Rows that are written again and again, in no indexed column: with room on their page the new version stays there, and needs no vacuum.
CREATE TABLE observed_row_pending PARTITION OF observed_row_parted FOR VALUES FROM (-1, MINVALUE) TO (0, MINVALUE)
    WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE TABLE observed_row_eras PARTITION OF observed_row_parted FOR VALUES FROM (3, MINVALUE) TO (4, MINVALUE)
    WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Seconds that a partition of a grain (0 to 2) covers.
CREATE FUNCTION observed_row_width(of_grain integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 86400::bigint * (ARRAY[1, 8, 64])[of_grain + 1]';

-- The partitions that there should be: of this time and the next, and of what lies in the default one (but for what clocks that are far off have left).
CREATE FUNCTION observed_row_wanted(of_now bigint, source text DEFAULT 'observed_row_default') RETURNS TABLE (of_grain integer, low bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT DISTINCT g, r.start / w * w FROM generate_series(0, 2) AS g, observed_row_width(g) AS w, %I r WHERE r.grain = g AND r.start BETWEEN $1 - 64 * w AND $1 + 86400 '
        'UNION SELECT g, ($1 / w + ahead) * w FROM generate_series(0, 2) AS g, observed_row_width(g) AS w, generate_series(0, 1) AS ahead ORDER BY 1, 2', source
    ) USING of_now;
END
$$;

-- Makes the partition for rows of a grain that start at `at`, with those of the default partition that belong there. False where it is there already.
CREATE FUNCTION observed_row_add(of_grain integer, at bigint, parent text DEFAULT 'observed_row') RETURNS boolean LANGUAGE plpgsql AS $$
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
    IF of_grain = 0 THEN
        -- Aggregators look up which minutes have rows at all.
        EXECUTE format('CREATE INDEX ON %I (tenant, start)', made);
    END IF;
    EXECUTE format(
        'WITH moved AS (DELETE FROM observed_row_default WHERE grain = %s AND start >= %s AND start < %s RETURNING *) INSERT INTO %I SELECT * FROM moved', of_grain, low, low + width, made
    );
    ALTER TABLE observed_row_default ENABLE TRIGGER USER;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s, %s) TO (%s, %s)', parent, made, of_grain, low, of_grain, low + width);
    RETURN true;
END
$$;

-- The partitions of a grain that end at `before` or earlier.
CREATE FUNCTION observed_row_ended(of_grain integer, before bigint) RETURNS TABLE (name text, low bigint, high bigint) LANGUAGE sql STABLE AS $$
    SELECT found.name, found.bounds[2]::bigint, found.bounds[3]::bigint
    FROM (
        SELECT c.relname::text, regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('(\d+)', '(\d+)'\) TO \('\d+', '(\d+)'\)$re$)
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'observed_row'::regclass
    ) AS found (name, bounds)
    WHERE found.bounds[1]::integer = of_grain AND found.bounds[3]::bigint <= before
    ORDER BY 2
$$;

-- Drops them, but for those with a window that is open. How many.
CREATE FUNCTION observed_row_drop(of_grain integer, before bigint) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    ended record;
    dropped integer := 0;
BEGIN
    FOR ended IN SELECT * FROM observed_row_ended(of_grain, before) LOOP
        CONTINUE WHEN EXISTS (SELECT 1 FROM observed_window w WHERE NOT w.settled AND w.start >= ended.low AND w.start < ended.high);
        -- Writers are done now: a window that one of them has opened meanwhile is seen.
        LOCK TABLE ONLY observed_row IN ACCESS EXCLUSIVE MODE;
        IF NOT EXISTS (SELECT 1 FROM observed_window w WHERE NOT w.settled AND w.start >= ended.low AND w.start < ended.high) THEN
            EXECUTE format('DROP TABLE IF EXISTS %I', ended.name);
            dropped := dropped + 1;
        END IF;
    END LOOP;
    RETURN dropped;
END
$$;

SELECT observed_row_add(of_grain, low, 'observed_row_parted') FROM observed_row_wanted(extract(epoch FROM now())::bigint, 'observed_row');
INSERT INTO observed_row_parted SELECT * FROM observed_row;
DROP TABLE observed_row;
ALTER TABLE observed_row_parted RENAME TO observed_row;
