-- Which of some calls are there, and in which traces.
WITH wanted AS
(
    SELECT row.1 AS project_id, row.2 AS id
    FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {ids:Array(String)})) AS row)
)
SELECT project_id, id, trace_id
FROM callhouse.calls FINAL
WHERE (project_id, started_at, id) IN
    (
        SELECT project_id, started_at, key FROM callhouse.call_keys
        WHERE kind = 'id' AND (project_id, key) IN (SELECT project_id, id FROM wanted)
    )
    AND moved = 0 AND delete_ver = 0
