-- Who says the details of an entity: [[detail (alias, owner, member, document), rank, namespace], ...]; a reader sees those that something within reach says.
-- `told_rank` is the rank from which on all of them are within reach. Filled by the next refresh, which every start does.

ALTER TABLE entity ADD COLUMN told jsonb NOT NULL DEFAULT '[]', ADD COLUMN told_rank smallint NOT NULL DEFAULT 0;
-- So that it has something to do, also where no document has changed.
UPDATE designed_state SET input_key = '';
