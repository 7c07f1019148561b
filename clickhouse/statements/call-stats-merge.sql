-- Merges statistics into those of some larger buckets: of minutes into hours (`unit` 60), or of seconds into minutes (1). The
-- version of an hour is the sum of those of its minutes, as in call-counts-hourly; a minute has that of the recompute, which
-- tells that it is made of its seconds (buckets-due).
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
    by_op AS
    (
        SELECT project_id, whole, root, count() > {mostKeys:UInt64} AS has_many, if(has_many, [], groupArray((op, user, n, failures, took))) AS entries
        FROM
        (
            SELECT
                project_id, whole, root, op, user, sum(entry.1) AS n, sum(entry.2) AS failures,
                arraySort(groupArrayArray(if({unit:UInt16} = 1, entry.3, []))) AS took
            FROM parts
            ARRAY JOIN call_op AS op, call_user AS user, arrayZip(call_count, call_errors, call_latencies) AS entry
            GROUP BY project_id, whole, root, op, user
        )
        GROUP BY project_id, whole, root
    ),
    by_key AS
    (
        SELECT
            project_id, whole, root, op, user, model, top,
            max(usage_is_by_model OR length(usage_op) != length(usage_model)) AS is_by_model,
            sumForEach([toFloat64(points), in_sum, out_sum, total_sum, read_sum, write_sum, inside_sum, apart_sum, billed_read_sum,
                billed_write_sum, billed_write_1h_sum, more_output_sum]) AS sums,
            minForEach([in_min, out_min, read_min, write_min]) AS least,
            maxForEach([in_max, out_max, read_max, write_max]) AS most
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
            arrayResize(usage_more_output_sum, length(usage_model)) AS more_output_sum,
            arrayResize(usage_op, length(usage_model)) AS op, arrayResize(usage_user, length(usage_model)) AS user
        GROUP BY project_id, whole, root, op, user, model, top
    ),
    kept AS
    (
        SELECT
            project_id, whole, root, are_by_model, model, top, if(are_by_model, '', op) AS kept_op, if(are_by_model, '', user) AS kept_user,
            sumForEach(keys.sums) AS sums, minForEach(keys.least) AS least, maxForEach(keys.most) AS most
        FROM
        (
            SELECT *, max(is_by_model) OVER bucket > 0 OR count() OVER bucket > {mostKeys:UInt64} AS are_by_model
            FROM by_key
            WINDOW bucket AS (PARTITION BY project_id, whole, root)
        ) AS keys
        GROUP BY project_id, whole, root, are_by_model, model, top, kept_op, kept_user
    )
SELECT
    c.project_id, if({unit:UInt16} = 60, 3600, 60), c.whole, c.root, c.version, c.calls, c.errors, c.timed, c.latency_sum, c.latency_min,
    c.latency_max, c.latency_ones, c.latency_zeros, c.latencies, u.models, u.tops, u.sums[1], u.sums[2], u.least[1],
    u.most[1], u.sums[3], u.least[2], u.most[2], u.sums[4], u.sums[5], u.least[3], u.most[3], u.sums[6], u.least[4], u.most[4],
    u.sums[7], u.sums[8], u.sums[9], u.sums[10], u.sums[11], u.sums[12], u.ops, u.users, u.are_by_model,
    if(c.has_unknown, [], o.entries.1), if(c.has_unknown, [], o.entries.2), if(c.has_unknown, [], o.entries.3),
    if(c.has_unknown, [], o.entries.4), if(c.has_unknown, [], o.entries.5)
FROM
(
    SELECT
        project_id, whole, root, if({unit:UInt16} = 60, sum(parts.revision), {revision:UInt64}) AS version,
        sum(calls) AS calls, sum(errors) AS errors, sum(parts.timed) AS timed,
        sum(parts.latency_sum) AS latency_sum, minIf(parts.latency_min, parts.timed > 0) AS latency_min,
        max(parts.latency_max) AS latency_max, sum(parts.latency_ones) AS latency_ones,
        sum(parts.latency_zeros) AS latency_zeros,
        arraySort(groupArrayArray(if({unit:UInt16} = 1, parts.latencies, []))) AS latencies,
        max(parts.calls > 0 AND empty(parts.call_op)) AS has_unknown
    FROM parts
    GROUP BY project_id, whole, root
) AS c
LEFT JOIN by_op AS o ON o.project_id = c.project_id AND o.whole = c.whole AND o.root = c.root
LEFT JOIN
(
    SELECT
        project_id, whole, root, groupArray(model) AS models, groupArray(top) AS tops, groupArrayForEach(kept.sums) AS sums,
        groupArrayForEach(kept.least) AS least, groupArrayForEach(kept.most) AS most, groupArray(kept_op) AS ops,
        groupArray(kept_user) AS users, max(are_by_model) AS are_by_model
    FROM kept
    GROUP BY project_id, whole, root
) AS u ON u.project_id = c.project_id AND u.whole = c.whole AND u.root = c.root
