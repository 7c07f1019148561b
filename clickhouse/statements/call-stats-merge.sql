-- Merges statistics into those of some larger buckets: of minutes into hours (`unit` 60), or of seconds into minutes (1). The
-- version of an hour is the sum of those of its minutes, as in call-counts-hourly; a minute has that of the recompute, which
-- tells that it is made of its seconds (call-stats-due).
INSERT INTO callhouse.call_stats
WITH
    due AS
    (
        SELECT one.1 AS project_id, toDateTime(one.2, 'UTC') AS whole
        FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {buckets:Array(UInt32)})) AS one)
    ),
    parts AS
    (
        SELECT *, if({unit:UInt16} = 60, toStartOfHour(bucket), toStartOfMinute(bucket)) AS whole
        FROM callhouse.call_stats FINAL
        WHERE seconds = {unit:UInt16}
            AND (project_id, if({unit:UInt16} = 60, toStartOfHour(bucket), toStartOfMinute(bucket))) IN (SELECT project_id, whole FROM due)
    ),
    by_model AS
    (
        SELECT
            project_id, whole, root, model, top,
            (sum(points), sum(in_sum), min(in_min), max(in_max), sum(out_sum), min(out_min), max(out_max), sum(total_sum),
                sum(read_sum), min(read_min), max(read_max), sum(write_sum), min(write_min), max(write_max), sum(inside_sum),
                sum(apart_sum), sum(billed_read_sum), sum(billed_write_sum), sum(billed_write_1h_sum), sum(more_output_sum)) AS usage
        FROM parts
        ARRAY JOIN
            usage_model AS model, usage_top AS top, usage_points AS points,
            usage_input_sum AS in_sum, usage_input_min AS in_min, usage_input_max AS in_max,
            usage_output_sum AS out_sum, usage_output_min AS out_min, usage_output_max AS out_max,
            usage_total_sum AS total_sum,
            usage_cache_read_sum AS read_sum, usage_cache_read_min AS read_min, usage_cache_read_max AS read_max,
            usage_cache_write_sum AS write_sum, usage_cache_write_min AS write_min, usage_cache_write_max AS write_max,
            -- minutes from before these columns are counted anew later
            arrayResize(usage_inside_sum, length(usage_model)) AS inside_sum,
            arrayResize(usage_apart_sum, length(usage_model)) AS apart_sum,
            arrayResize(usage_billed_read_sum, length(usage_model)) AS billed_read_sum,
            arrayResize(usage_billed_write_sum, length(usage_model)) AS billed_write_sum,
            arrayResize(usage_billed_write_1h_sum, length(usage_model)) AS billed_write_1h_sum,
            arrayResize(usage_more_output_sum, length(usage_model)) AS more_output_sum
        GROUP BY project_id, whole, root, model, top
    )
SELECT
    c.project_id, if({unit:UInt16} = 60, 3600, 60), c.whole, c.root, c.version, c.calls, c.errors, c.timed, c.latency_sum, c.latency_min,
    c.latency_max, c.latency_ones, c.latency_zeros, c.latencies, u.entries.1, u.entries.2, u.entries.3.1, u.entries.3.2,
    u.entries.3.3, u.entries.3.4, u.entries.3.5, u.entries.3.6, u.entries.3.7, u.entries.3.8, u.entries.3.9,
    u.entries.3.10, u.entries.3.11, u.entries.3.12, u.entries.3.13, u.entries.3.14, u.entries.3.15, u.entries.3.16,
    u.entries.3.17, u.entries.3.18, u.entries.3.19, u.entries.3.20
FROM
(
    SELECT
        project_id, whole, root, if({unit:UInt16} = 60, sum(parts.revision), {revision:UInt64}) AS version,
        sum(calls) AS calls, sum(errors) AS errors, sum(parts.timed) AS timed,
        sum(parts.latency_sum) AS latency_sum, minIf(parts.latency_min, parts.timed > 0) AS latency_min,
        max(parts.latency_max) AS latency_max, sum(parts.latency_ones) AS latency_ones,
        sum(parts.latency_zeros) AS latency_zeros,
        arraySort(groupArrayArray(if({unit:UInt16} = 1, parts.latencies, []))) AS latencies
    FROM parts
    GROUP BY project_id, whole, root
) AS c
LEFT JOIN
(
    SELECT project_id, whole, root, groupArray((model, top, usage)) AS entries FROM by_model GROUP BY project_id, whole, root
) AS u ON u.project_id = c.project_id AND u.whole = c.whole AND u.root = c.root
