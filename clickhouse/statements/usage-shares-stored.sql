-- Traces with a span with usage that begins in a range.
SELECT DISTINCT project_id AS project, trace_id AS trace
FROM callhouse.calls
WHERE started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    AND notEmpty(usage_model) AND length(id) = 16
