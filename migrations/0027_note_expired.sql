-- From when on rows of a grain are all there: earlier ones may have been dropped past their retention. No line: nothing of the grain was dropped yet.
-- Not by tenant, as retention is not.
CREATE TABLE observed_expired (
    grain smallint PRIMARY KEY,
    before bigint NOT NULL
);

-- What the previous release dropped shows where coarser rows go further back: an hour whose minutes are gone, a day without its hours.
INSERT INTO observed_expired (grain, before)
SELECT grain, fine.low
FROM generate_series(0, 2) AS grain,
    LATERAL (SELECT min(first.start) AS low FROM (SELECT DISTINCT tenant FROM observed_edge) t, LATERAL (SELECT min(r.start) AS start FROM observed_row r WHERE r.tenant = t.tenant AND r.grain = grain.grain) first) fine,
    LATERAL (SELECT min(first.start) AS low FROM (SELECT DISTINCT tenant FROM observed_edge) t, LATERAL (SELECT min(r.start) AS start FROM observed_row r WHERE r.tenant = t.tenant AND r.grain = grain.grain + 1) first) coarse
WHERE fine.low - fine.low % (ARRAY[3600, 86400, 64 * 86400])[grain.grain + 1] > coarse.low;
