-- Which of some calls came as spans, and what is billed of them beside their tokens (0045_billed_names.sql).
SELECT
    project_id AS project, id, toString(clock) AS end_ver, otel_dump.size > 0 AS is_span,
    arrayMap(n -> toFloat64(n), [arraySum(billed_usage.inside), 0, arraySum(billed_usage.cache_read), arraySum(billed_usage.cache_write),
        arraySum(billed_usage.cache_write_1h), arraySum(billed_usage.more_output)]) AS billed
FROM callhouse.payloads
WHERE part != 'start'
    AND (project_id, at) IN (SELECT pair.1, fromUnixTimestamp64Micro(pair.2, 'UTC') FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {times:Array(Int64)})) AS pair))
