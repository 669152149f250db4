-- What is looked for beside the results of a question: documents that say of themselves that they change another, and documents by file name.
-- The conditions and expressions are those of the queries, word for word.
CREATE INDEX document_changes ON document (tenant, namespace)
    WHERE status = 'active'
      AND metadata -> 'front' ?| ARRAY['supersedes', 'amends', 'updates', 'changes', 'replaces', 'corrects', 'obsoletes', '대체', '개정', '정정', '변경'];
CREATE INDEX document_file ON document (tenant, lower(regexp_replace(path, '^.*/', '')));
