-- Pages of a report begin where the one before ended, in the order in which they are shown, also of one flag; and findings are found by an end's name.

CREATE INDEX drift_finding_order ON drift_finding (tenant, run_id, (-rank), fingerprint);
CREATE INDEX drift_finding_flag ON drift_finding (tenant, run_id, flag, (-rank), fingerprint);
CREATE INDEX drift_finding_names ON drift_finding USING gin (names);
DROP INDEX drift_finding_ranked;
