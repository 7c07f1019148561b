-- Counts the statistics of some buckets from the calls: of minutes (`unit` 60) or of seconds (1). The bounds are times of the
-- column's own type, as in call-counts.
INSERT INTO callhouse.call_stats
WITH
    due AS
    (
        SELECT arrayJoin(arrayZip({projects:Array(String)}, {buckets:Array(UInt32)})) AS one, one.1 AS project_id, toDateTime(one.2, 'UTC') AS bucket
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
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(at), toDateTime(at, 'UTC'))) IN (SELECT project_id, bucket FROM places)
    ),
    -- What spans count for themselves that report the sum of those below them.
    shares AS
    (
        SELECT
            project_id, started_at, id, nested, (input, output, total, cache_read, cache_write) AS counted,
            CAST(('', inside, 0, billed_read, billed_write, billed_write_1h, more_output),
                'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)') AS bill
        FROM callhouse.usage_shares FINAL
        WHERE nested = 1
            AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(started_at), toDateTime(started_at, 'UTC')))
                IN (SELECT project_id, bucket FROM due)
    ),
    one AS
    (
        SELECT
            project_id, id, started_at, end_ver,
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
            -- as a group of it is named: without project and version
            if(notEmpty(usage_model), replaceRegexpOne(op_name, '^weave:///[^/]+/[^/]+/op/([^/:]+):[\\s\\S]*$', '\\1'), '') AS op,
            user_id AS user,
            notEmpty(usage_model) AND (start_ver, id) IN
            (
                SELECT clock, id FROM callhouse.payloads
                WHERE part = 'start' AND counts_cached = 1
                    AND at >= toDateTime64({from:Int64}, 6, 'UTC') AND at < toDateTime64({before:Int64}, 6, 'UTC')
                    AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(at), toDateTime(at, 'UTC'))) IN (SELECT project_id, bucket FROM due)
            ) AS has_cached,
            usage_model, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write
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
            o.project_id AS project_id, o.bucket AS bucket, o.root AS root, o.op AS op, o.user AS user, o.top AS top,
            -- lists of equal length in every row that the edge wrote; one other row must not stop the recompute
            arrayZip(o.usage_model, arrayResize(o.usage_input, length(o.usage_model)), arrayResize(o.usage_output, length(o.usage_model)),
                arrayResize(o.usage_total, length(o.usage_model)), arrayResize(o.usage_cache_read, length(o.usage_model)),
                arrayResize(o.usage_cache_write, length(o.usage_model))) AS reported,
            if(s.nested = 1, if((s.counted, tupleElement(s.bill, 2), tupleElement(s.bill, 4), tupleElement(s.bill, 5), tupleElement(s.bill, 6), tupleElement(s.bill, 7)) = ((0, 0, 0, 0, 0), 0, 0, 0, 0, 0), [],
                arrayMap(point -> tupleConcat(tuple(point.1), s.counted), reported)), reported) AS points,
            arrayMap(point -> if(s.nested = 1, s.bill, arrayFirst(bill -> bill.model = point.1, b.billed_usage)), points) AS bills,
            o.has_cached OR b.counts_cached = 1 AS counts_cached
        FROM (SELECT * FROM one WHERE notEmpty(usage_model)) AS o
        LEFT ANY JOIN bills AS b ON b.clock = o.end_ver AND b.id = o.id
        LEFT ANY JOIN shares AS s ON s.project_id = o.project_id AND s.started_at = o.started_at AND s.id = o.id
    ),
    by_key AS
    (
        SELECT
            project_id, bucket, root, op, user, point.1 AS model, toUInt8(top) AS top,
            sumForEach([1, toFloat64(point.2), toFloat64(point.3), toFloat64(point.4), toFloat64(point.5), toFloat64(point.6),
                toFloat64(bill.inside), if(counts_cached, 0, toFloat64(bill.apart)), toFloat64(bill.cache_read),
                toFloat64(bill.cache_write), toFloat64(bill.cache_write_1h), toFloat64(bill.more_output)]) AS sums,
            minForEach([point.2, point.3, point.5, point.6]) AS least,
            maxForEach([point.2, point.3, point.5, point.6]) AS most
        FROM billed
        ARRAY JOIN points AS point, bills AS bill
        GROUP BY project_id, bucket, root, op, user, model, top
    ),
    kept AS
    (
        SELECT
            project_id, bucket, root, is_by_model, model, top, if(is_by_model, '', op) AS kept_op, if(is_by_model, '', user) AS kept_user,
            sumForEach(by_key.sums) AS sums, minForEach(by_key.least) AS least, maxForEach(by_key.most) AS most
        FROM (SELECT *, count() OVER (PARTITION BY project_id, bucket, root) > {mostKeys:UInt64} AS is_by_model FROM by_key) AS by_key
        GROUP BY project_id, bucket, root, is_by_model, model, top, kept_op, kept_user
    )
SELECT
    d.project_id, {unit:UInt16}, d.bucket, d.root, {revision:UInt64}, c.calls, c.errors, length(c.times),
    arraySum(x -> toFloat64(x), c.times), if(empty(c.times), 0, arrayMin(c.times)), if(empty(c.times), 0, arrayMax(c.times)),
    countEqual(c.times, 1), countEqual(c.times, 0), arraySort(c.times),
    u.models, u.tops, u.sums[1], u.sums[2], u.least[1], u.most[1], u.sums[3], u.least[2], u.most[2], u.sums[4],
    u.sums[5], u.least[3], u.most[3], u.sums[6], u.least[4], u.most[4], u.sums[7], u.sums[8], u.sums[9], u.sums[10], u.sums[11],
    u.sums[12], u.ops, u.users, u.is_by_model
FROM (SELECT project_id, bucket, arrayJoin([0, 1]) AS root FROM due) AS d
LEFT JOIN counted AS c ON c.project_id = d.project_id AND c.bucket = d.bucket AND c.root = d.root
LEFT JOIN
(
    SELECT
        project_id, bucket, root, groupArray(model) AS models, groupArray(top) AS tops, groupArrayForEach(kept.sums) AS sums,
        groupArrayForEach(kept.least) AS least, groupArrayForEach(kept.most) AS most, groupArray(kept_op) AS ops,
        groupArray(kept_user) AS users, max(is_by_model) AS is_by_model
    FROM kept
    GROUP BY project_id, bucket, root
) AS u ON u.project_id = d.project_id AND u.bucket = d.bucket AND u.root = d.root
SETTINGS do_not_merge_across_partitions_select_final = 1
