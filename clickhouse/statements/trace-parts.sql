-- Counts what traces have in some buckets (counted-calls): in minutes (`unit` 60) or in seconds (1).
INSERT INTO callhouse.trace_parts
WITH
    ${counted},
    by_model AS
    (
        SELECT
            project_id, bucket, trace_id, point.1 AS model, toUInt8(top) AS is_top,
            sumForEach([toFloat64(point.2), toFloat64(point.3),
                -- a total that is not reported is that of both
                toFloat64(if(nested = 0 AND point.4 = 0, point.2 + point.3, point.4)),
                toFloat64(bill.inside), if(counts_cached, 0, toFloat64(bill.apart)), toFloat64(bill.cache_read),
                toFloat64(bill.cache_write), toFloat64(bill.cache_write_1h), toFloat64(bill.more_output)]) AS sums
        FROM billed
        ARRAY JOIN points AS point, bills AS bill
        GROUP BY project_id, bucket, trace_id, model, is_top
    ),
    used AS
    (
        SELECT
            project_id, bucket, trace_id, max(is_top) AS has_top,
            sumForEachIf(sums, is_top = 1) AS tops, sumForEachIf(sums, is_top = 0) AS others,
            groupArray((model, is_top, sums)) AS entries
        FROM by_model
        GROUP BY project_id, bucket, trace_id
    ),
    by_trace AS
    (
        SELECT
            project_id, bucket, trace_id, count() AS spans, countIf(failed) AS errors, countIf(end_ver = 0) AS running,
            toInt64(toUnixTimestamp(bucket)) * 1000000 AS bucket_us,
            toUnixTimestamp64Micro(min(started_at)) - bucket_us AS begun,
            toUnixTimestamp64Micro(max(if(end_ver > 0, greatest(ended_at, started_at), started_at))) - bucket_us AS ended,
            if(max(root) = 1, toUnixTimestamp64Micro(minIf(started_at, root = 1)) - bucket_us + 1, 0) AS root_at
        FROM one
        GROUP BY project_id, bucket, trace_id
    )
SELECT
    d.project_id, {unit:UInt16}, d.bucket, {revision:UInt64}, arraySum(t.spans), t.trace, t.spans, t.errors, t.running, t.begun,
    t.ended, t.root_at, t.has_top, t.tops[1], t.tops[2], t.tops[3], t.others[1], t.others[2], t.others[3],
    t.used_traces, t.entries.1, t.entries.2, arrayMap(e -> e.3[1], t.entries), arrayMap(e -> e.3[2], t.entries),
    arrayMap(e -> e.3[4], t.entries), arrayMap(e -> e.3[5], t.entries), arrayMap(e -> e.3[6], t.entries),
    arrayMap(e -> e.3[7], t.entries), arrayMap(e -> e.3[8], t.entries), arrayMap(e -> e.3[9], t.entries)
FROM due AS d
LEFT JOIN
(
    SELECT
        project_id, bucket, groupArray(key) AS trace, groupArray(of.spans) AS spans, groupArray(of.errors) AS errors,
        groupArray(of.running) AS running, groupArray(of.begun) AS begun, groupArray(of.ended) AS ended, groupArray(of.root_at) AS root_at,
        groupArray(of.has_top) AS has_top, groupArrayForEach(arrayResize(of.tops, 3)) AS tops,
        groupArrayForEach(arrayResize(of.others, 3)) AS others, groupArrayArray(arrayMap(e -> key, of.entries)) AS used_traces,
        groupArrayArray(of.entries) AS entries
    FROM
    (
        SELECT
            b.project_id AS project_id, b.bucket AS bucket, reinterpretAsUInt128(sipHash128(b.trace_id)) AS key, b.spans AS spans,
            b.errors AS errors, b.running AS running, b.begun AS begun, b.ended AS ended, b.root_at AS root_at,
            k.has_top AS has_top, k.tops AS tops, k.others AS others, k.entries AS entries
        FROM by_trace AS b
        LEFT JOIN used AS k ON k.project_id = b.project_id AND k.bucket = b.bucket AND k.trace_id = b.trace_id
    ) AS of
    GROUP BY project_id, bucket
) AS t ON t.project_id = d.project_id AND t.bucket = d.bucket
SETTINGS do_not_merge_across_partitions_select_final = 1
