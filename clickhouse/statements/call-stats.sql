-- Counts the statistics of some buckets from the calls: of minutes (`unit` 60) or of seconds (1). The bounds are times of the
-- column's own type, as in call-counts.
INSERT INTO callhouse.call_stats
WITH
    due AS
    (
        SELECT one.1 AS project_id, toDateTime(one.2, 'UTC') AS bucket
        FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {buckets:Array(UInt32)})) AS one)
    ),
    -- Where the summaries of the calls lie: an end that came alone lies at a time of its own.
    places AS
    (
        SELECT DISTINCT project_id, if({unit:UInt16} = 60, toStartOfMinute(output_at), toDateTime(output_at, 'UTC')) AS bucket
        FROM callhouse.calls
        WHERE notEmpty(usage_model)
            AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(started_at), toDateTime(started_at, 'UTC')))
                IN (SELECT project_id, bucket FROM due)
    ),
    bills AS
    (
        SELECT id, clock, billed_usage, counts_cached
        FROM callhouse.payloads
        WHERE part != 'start' AND notEmpty(billed_usage)
            AND at >= toDateTime64((SELECT min(bucket) FROM places), 6, 'UTC')
            AND at < toDateTime64((SELECT max(bucket) + toIntervalSecond({unit:UInt16}) FROM places), 6, 'UTC')
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(at), toDateTime(at, 'UTC'))) IN (SELECT project_id, bucket FROM places)
    ),
    one AS
    (
        SELECT
            project_id, id, end_ver,
            if({unit:UInt16} = 60, toStartOfMinute(started_at), toDateTime(started_at, 'UTC')) AS bucket,
            toUInt8(parent_id = '') AS root, exception != '' AS failed,
            end_ver > 0 AND ended_at >= started_at AS has_latency,
            if(has_latency, toUInt64(intDiv(toUnixTimestamp64Micro(ended_at) - toUnixTimestamp64Micro(started_at), 1000)), 0) AS latency,
            -- only calls with usage are looked up
            notEmpty(usage_model) AND (parent_id = '' OR (start_ver, id) IN
            (
                SELECT clock, id FROM callhouse.payloads
                WHERE part IN ('both', 'start') AND otel_dump.size > 0
                    AND at >= toDateTime64({from:Int64}, 6, 'UTC') AND at < toDateTime64({before:Int64}, 6, 'UTC')
                    AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(at), toDateTime(at, 'UTC'))) IN (SELECT project_id, bucket FROM due)
            )) AS top,
            notEmpty(usage_model) AND (start_ver, id) IN
            (
                SELECT clock, id FROM callhouse.payloads
                WHERE part = 'start' AND counts_cached = 1
                    AND at >= toDateTime64({from:Int64}, 6, 'UTC') AND at < toDateTime64({before:Int64}, 6, 'UTC')
                    AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(at), toDateTime(at, 'UTC'))) IN (SELECT project_id, bucket FROM due)
            ) AS has_cached,
            -- lists of equal length in every row that the edge wrote; one other row must not stop the recompute
            arrayZip(usage_model, arrayResize(usage_input, length(usage_model)), arrayResize(usage_output, length(usage_model)),
                arrayResize(usage_total, length(usage_model)), arrayResize(usage_cache_read, length(usage_model)),
                arrayResize(usage_cache_write, length(usage_model))) AS points
        FROM callhouse.calls FINAL
        WHERE delete_ver = 0 AND moved = 0
            AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(started_at), toDateTime(started_at, 'UTC')))
                IN (SELECT project_id, bucket FROM due)
    ),
    counted AS
    (
        SELECT project_id, bucket, root, count() AS calls, countIf(failed) AS errors, groupArrayIf(latency, has_latency) AS times
        FROM one
        GROUP BY project_id, bucket, root
    ),
    -- Calls with usage alone: most have none, and looking for bills and joining lists costs ten times what counting costs.
    billed AS
    (
        SELECT
            o.*, arrayMap(point -> arrayFirst(bill -> bill.model = point.1, b.billed_usage), o.points) AS bills,
            o.has_cached OR b.counts_cached = 1 AS counts_cached
        FROM (SELECT * FROM one WHERE notEmpty(points)) AS o
        LEFT ANY JOIN bills AS b ON b.clock = o.end_ver AND b.id = o.id
    ),
    by_model AS
    (
        SELECT
            project_id, bucket, root, point.1 AS model, toUInt8(top) AS top,
            (count(),
                sum(toFloat64(point.2)), min(point.2), max(point.2), sum(toFloat64(point.3)), min(point.3), max(point.3),
                sum(toFloat64(point.4)), sum(toFloat64(point.5)), min(point.5), max(point.5),
                sum(toFloat64(point.6)), min(point.6), max(point.6),
                sum(toFloat64(bill.inside)), sumIf(toFloat64(bill.apart), NOT counts_cached), sum(toFloat64(bill.cache_read)),
                sum(toFloat64(bill.cache_write)), sum(toFloat64(bill.cache_write_1h)), sum(toFloat64(bill.more_output))) AS usage
        FROM billed
        ARRAY JOIN points AS point, bills AS bill
        GROUP BY project_id, bucket, root, model, top
    )
SELECT
    d.project_id, {unit:UInt16}, d.bucket, d.root, {revision:UInt64}, c.calls, c.errors, length(c.times),
    arraySum(x -> toFloat64(x), c.times), if(empty(c.times), 0, arrayMin(c.times)), if(empty(c.times), 0, arrayMax(c.times)),
    countEqual(c.times, 1), countEqual(c.times, 0), arraySort(c.times),
    u.entries.1, u.entries.2, u.entries.3.1, u.entries.3.2, u.entries.3.3, u.entries.3.4, u.entries.3.5, u.entries.3.6,
    u.entries.3.7, u.entries.3.8, u.entries.3.9, u.entries.3.10, u.entries.3.11, u.entries.3.12, u.entries.3.13, u.entries.3.14,
    u.entries.3.15, u.entries.3.16, u.entries.3.17, u.entries.3.18, u.entries.3.19, u.entries.3.20
FROM (SELECT project_id, bucket, arrayJoin([0, 1]) AS root FROM due) AS d
LEFT JOIN counted AS c ON c.project_id = d.project_id AND c.bucket = d.bucket AND c.root = d.root
LEFT JOIN
(
    SELECT project_id, bucket, root, groupArray((model, top, usage)) AS entries FROM by_model GROUP BY project_id, bucket, root
) AS u ON u.project_id = d.project_id AND u.bucket = d.bucket AND u.root = d.root
SETTINGS do_not_merge_across_partitions_select_final = 1
