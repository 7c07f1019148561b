-- The calls of some traces as far as their usage is counted: those with at least two that report any, and those with
-- shares that are stored.
WITH
    named AS (SELECT arrayJoin(arrayZip({projects:Array(String)}, {traces:Array(String)})) AS pair, pair.1 AS project_id, pair.2 AS trace_id),
    times AS
    (
        SELECT project_id, started_at FROM callhouse.call_keys
        WHERE kind = 'trace_id' AND (project_id, key) IN (SELECT project_id, trace_id FROM named)
    ),
    shares AS
    (
        SELECT project_id, started_at, id, [nested, input, output, total, cache_read, cache_write, inside, billed_read, billed_write, billed_write_1h, more_output] AS stored
        FROM callhouse.usage_shares FINAL
        WHERE (project_id, started_at) IN times
    ),
    spans AS
    (
        SELECT
            project_id, trace_id, id, parent_id, started_at, end_ver, version, notEmpty(usage_model) AS has_usage,
            [arraySum(usage_requests), arraySum(usage_input), arraySum(usage_output), arraySum(usage_total),
                arraySum(usage_cache_read), arraySum(usage_cache_write)] AS numbers
        FROM callhouse.calls FINAL
        WHERE (project_id, started_at) IN times AND (project_id, trace_id) IN (SELECT project_id, trace_id FROM named)
            AND delete_ver = 0 AND moved = 0
    )
SELECT
    c.project_id AS project, c.trace_id AS trace, c.id AS id, c.parent_id AS parent,
    toFloat64(toUnixTimestamp64Micro(c.started_at)) AS started_us, toString(c.end_ver) AS end_ver,
    if(c.has_usage, arrayMap(n -> toFloat64(n), c.numbers), []) AS numbers, arrayMap(n -> toFloat64(n), s.stored) AS stored
FROM
(
    SELECT *, sum(has_usage) OVER (PARTITION BY project_id, trace_id) AS reporting FROM spans
) AS c
LEFT ANY JOIN shares AS s ON s.project_id = c.project_id AND s.started_at = c.started_at AND s.id = c.id
WHERE c.reporting > 1 OR notEmpty(s.stored)
