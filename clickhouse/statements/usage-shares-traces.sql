-- The traces of some calls by their ids.
SELECT DISTINCT project_id AS project, trace_id AS trace
FROM callhouse.calls
WHERE (project_id, started_at) IN
    (
        SELECT project_id, started_at FROM callhouse.call_keys
        WHERE kind = 'id' AND (project_id, key) IN (SELECT arrayJoin(arrayZip({projects:Array(String)}, {ids:Array(String)})))
    )
    AND (project_id, id) IN (SELECT arrayJoin(arrayZip({projects:Array(String)}, {ids:Array(String)})))
