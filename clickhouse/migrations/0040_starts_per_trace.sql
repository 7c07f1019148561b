-- A span id may start a call in each of several traces: these starts stay beside each other. Of any other id only the
-- newest start stays, whatever its trace. A column that joins the sorting key may have no default when it does.
ALTER TABLE callhouse.call_patches ADD COLUMN IF NOT EXISTS identity_scope String, MODIFY ORDER BY (project_id, id, kind, identity_scope);

ALTER TABLE callhouse.call_patches MODIFY COLUMN identity_scope String DEFAULT if(kind = 'start' AND length(id) = 16, trace_id, '');
