-- What is stored of the shares of some spans.
SELECT
    project_id AS project, id, toFloat64(toUnixTimestamp64Micro(started_at)) AS started_us,
    arrayMap(n -> toFloat64(n), [nested, input, output, total, cache_read, cache_write, inside, billed_read, billed_write, billed_write_1h, more_output]) AS stored
FROM callhouse.usage_shares FINAL
WHERE (project_id, started_at) IN
    (
        SELECT pair.1, fromUnixTimestamp64Micro(pair.2, 'UTC')
        FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {times:Array(Int64)})) AS pair)
    )
