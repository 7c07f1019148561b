-- Recomputes the statistics of dirty minutes: those marked past the position that the rollup covers, up to `upTo`.
INSERT INTO callhouse.call_stats
WITH
    due AS
    (
        SELECT DISTINCT project_id, minute FROM callhouse.call_marks
        WHERE position > {minCovered:Int64} AND arrayExists((p, c, u) -> partition = p AND position > c AND position <= u,
            {partitions:Array(UInt32)}, {covered:Array(Int64)}, {upTo:Array(Int64)})
        AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
        -- the calls of these minutes may be removed, and what was counted of them is still seen
        AND toInt64(toUnixTimestamp(minute)) >= transform(project_id, {agedProjects:Array(String)}, {countedFrom:Array(Int64)}, toInt64(0))
    ),
    -- Where the summaries of the calls lie: an end that came alone lies at a time of its own.
    places AS
    (
        SELECT DISTINCT project_id, toStartOfMinute(output_at) AS minute
        FROM callhouse.calls
        WHERE notEmpty(usage_model)
            AND started_at >= (SELECT min(minute) FROM due)
            AND started_at < (SELECT max(minute) + INTERVAL 1 MINUTE FROM due)
            AND (project_id, toStartOfMinute(started_at)) IN (SELECT project_id, minute FROM due)
    ),
    bills AS
    (
        SELECT id, clock, billed_usage, counts_cached
        FROM callhouse.payloads
        WHERE part != 'start' AND notEmpty(billed_usage)
            AND at >= (SELECT min(minute) FROM places) AND at < (SELECT max(minute) + INTERVAL 1 MINUTE FROM places)
            AND (project_id, toStartOfMinute(at)) IN (SELECT project_id, minute FROM places)
    ),
    one AS
    (
        SELECT
            project_id, id, end_ver, toStartOfMinute(started_at) AS minute, toUInt8(parent_id = '') AS root, exception != '' AS failed,
            end_ver > 0 AND ended_at >= started_at AS has_latency,
            if(has_latency, toUInt64(intDiv(toUnixTimestamp64Micro(ended_at) - toUnixTimestamp64Micro(started_at), 1000)), 0) AS latency,
            -- only calls with usage are looked up
            notEmpty(usage_model) AND (parent_id = '' OR (start_ver, id) IN
            (
                SELECT clock, id FROM callhouse.payloads
                WHERE part IN ('both', 'start') AND otel_dump != ''
                    AND at >= (SELECT min(minute) FROM due) AND at < (SELECT max(minute) + INTERVAL 1 MINUTE FROM due)
                    AND (project_id, toStartOfMinute(at)) IN (SELECT project_id, minute FROM due)
            )) AS top,
            notEmpty(usage_model) AND (start_ver, id) IN
            (
                SELECT clock, id FROM callhouse.payloads
                WHERE part = 'start' AND counts_cached = 1
                    AND at >= (SELECT min(minute) FROM due) AND at < (SELECT max(minute) + INTERVAL 1 MINUTE FROM due)
                    AND (project_id, toStartOfMinute(at)) IN (SELECT project_id, minute FROM due)
            ) AS has_cached,
            -- lists of equal length in every row that the edge wrote; one other row must not stop the recompute
            arrayZip(usage_model, arrayResize(usage_input, length(usage_model)), arrayResize(usage_output, length(usage_model)),
                arrayResize(usage_total, length(usage_model)), arrayResize(usage_cache_read, length(usage_model)),
                arrayResize(usage_cache_write, length(usage_model))) AS points
        FROM callhouse.calls FINAL
        WHERE delete_ver = 0 AND moved = 0
            AND started_at >= (SELECT min(minute) FROM due)
            AND started_at < (SELECT max(minute) + INTERVAL 1 MINUTE FROM due)
            AND (project_id, toStartOfMinute(started_at)) IN (SELECT project_id, minute FROM due)
    ),
    billed AS
    (
        SELECT
            o.*, arrayMap(point -> arrayFirst(bill -> bill.model = point.1, b.billed_usage), o.points) AS bills,
            o.has_cached OR b.counts_cached = 1 AS counts_cached
        FROM one AS o
        LEFT ANY JOIN bills AS b ON b.clock = o.end_ver AND b.id = o.id
    ),
    -- A call with several models is several rows, of which the first one counts for the call.
    by_model AS
    (
        SELECT
            project_id, minute, root, point.1 AS model, toUInt8(top) AS top,
            countIf(n <= 1) AS calls, countIf(n <= 1 AND failed) AS errors,
            groupArrayIf(latency, n <= 1 AND has_latency) AS times,
            (countIf(n > 0),
                sum(toFloat64(point.2)), min(point.2), max(point.2), sum(toFloat64(point.3)), min(point.3), max(point.3),
                sum(toFloat64(point.4)), sum(toFloat64(point.5)), min(point.5), max(point.5),
                sum(toFloat64(point.6)), min(point.6), max(point.6),
                sum(toFloat64(bill.inside)), sumIf(toFloat64(bill.apart), NOT counts_cached), sum(toFloat64(bill.cache_read)),
                sum(toFloat64(bill.cache_write)), sum(toFloat64(bill.cache_write_1h)), sum(toFloat64(bill.more_output))) AS usage
        FROM billed
        LEFT ARRAY JOIN points AS point, bills AS bill, arrayEnumerate(points) AS n
        GROUP BY project_id, minute, root, model, top
    )
SELECT
    d.project_id, 60, d.minute, d.root, {revision:UInt64}, c.calls, c.errors, length(c.times),
    arraySum(x -> toFloat64(x), c.times), if(empty(c.times), 0, arrayMin(c.times)), if(empty(c.times), 0, arrayMax(c.times)),
    countEqual(c.times, 1), countEqual(c.times, 0), arraySort(c.times),
    c.entries.1, c.entries.2, c.entries.3.1, c.entries.3.2, c.entries.3.3, c.entries.3.4, c.entries.3.5, c.entries.3.6,
    c.entries.3.7, c.entries.3.8, c.entries.3.9, c.entries.3.10, c.entries.3.11, c.entries.3.12, c.entries.3.13, c.entries.3.14,
    c.entries.3.15, c.entries.3.16, c.entries.3.17, c.entries.3.18, c.entries.3.19, c.entries.3.20
FROM (SELECT project_id, minute, arrayJoin([0, 1]) AS root FROM due) AS d
LEFT JOIN
(
    SELECT project_id, minute, root, sum(calls) AS calls, sum(errors) AS errors, groupArrayArray(times) AS times,
        groupArrayIf((model, top, usage), usage.1 > 0) AS entries
    FROM by_model
    GROUP BY project_id, minute, root
) AS c ON c.project_id = d.project_id AND c.minute = d.minute AND c.root = d.root
SETTINGS do_not_merge_across_partitions_select_final = 1
