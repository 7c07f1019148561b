-- Rows of some spans as they are stored: the times that are taken, and by which trace.
SELECT DISTINCT project_id, id, trace_id, toString(toUnixTimestamp64Micro(started_at)) AS us
FROM callhouse.calls
WHERE (project_id, id) IN (SELECT arrayJoin(arrayZip({projects:Array(String)}, {ids:Array(String)}))) AND started_at IN
(
    SELECT started_at FROM callhouse.call_keys
    WHERE kind = 'id' AND (project_id, key) IN (SELECT arrayJoin(arrayZip({projects:Array(String)}, {ids:Array(String)})))
)
