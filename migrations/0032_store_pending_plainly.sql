-- Pending rows are written again with every batch and read a few times: packing their sketches, in the staging table and in their own, and moving them out of line
-- costs more than the space that it saves for minutes. What is beyond a page goes out of line as before, and folded rows are packed as before.
ALTER TABLE observed_row_pending ALTER COLUMN sketches SET STORAGE EXTERNAL, ALTER COLUMN shown SET STORAGE EXTERNAL;
ALTER TABLE observed_row_pending SET (toast_tuple_target = 8160);
ALTER TABLE observed_revised ALTER COLUMN sketches SET STORAGE EXTERNAL, ALTER COLUMN shown SET STORAGE EXTERNAL;
