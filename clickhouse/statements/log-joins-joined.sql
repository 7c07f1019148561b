-- What was joined with spans last: the clock of the call as it was sent, and the one it has since.
SELECT
    project_id, trace_id, span_id,
    toString(tupleElement(max((log_joined.clock, log_joined.base)) AS newest, 2)) AS base, toString(tupleElement(newest, 1)) AS joined_clock
FROM callhouse.log_joined
WHERE (project_id, trace_id, span_id) IN arrayZip({projects:Array(String)}, {traces:Array(String)}, {ids:Array(String)})
GROUP BY project_id, trace_id, span_id
