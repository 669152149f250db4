-- Edges and services with a row in which something is folded into `(other)`: `GET /services` says so, and read the texts of every row to find them.
-- Marked by the database itself, so that the previous release beside this one marks too. A mark says where to look; what is folded is read from the row.
CREATE TABLE observed_crowded (
    tenant text NOT NULL,
    edge bigint NOT NULL,
    PRIMARY KEY (tenant, edge)
);

CREATE FUNCTION observed_crowd() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO observed_crowded (tenant, edge) VALUES (NEW.tenant, NEW.edge) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER observed_crowd AFTER INSERT OR UPDATE ON observed_row_eras FOR EACH ROW WHEN (strpos(NEW.bags, '"(other)') > 0) EXECUTE FUNCTION observed_crowd();
CREATE TRIGGER observed_crowd AFTER INSERT OR UPDATE ON observed_row_pending FOR EACH ROW WHEN (strpos(NEW.bags, '"(other)') > 0) EXECUTE FUNCTION observed_crowd();

INSERT INTO observed_crowded (tenant, edge) SELECT DISTINCT tenant, edge FROM observed_row WHERE grain IN (3, -1) AND strpos(bags, '"(other)') > 0;
