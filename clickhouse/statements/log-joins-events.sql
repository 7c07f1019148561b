-- The first log records of spans, ordered by time.
SELECT
    project_id, trace_id, span_id, id, toString(toUnixTimestamp64Nano(at)) AS at_ns, event_name, body, body_json, attributes, json_keys
FROM callhouse.logs
WHERE (project_id, trace_id, span_id, at, id) IN
(
    SELECT DISTINCT project_id, trace_id, span_id, at, id FROM callhouse.logs_by_span
    WHERE (project_id, trace_id, span_id) IN arrayZip({projects:Array(String)}, {traces:Array(String)}, {ids:Array(String)})
        AND event_name IN {events:Array(String)}
    ORDER BY at, id
    LIMIT {maxEvents:UInt32} BY project_id, trace_id, span_id
)
ORDER BY at, id
LIMIT 1 BY project_id, at, id
