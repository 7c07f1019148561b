-- minutes that lag (call-stats.dirty-minutes)
-- {"v0":"ent/proj","v1":[],"v2":0,"v3":60}
SELECT toUnixTimestamp(minute)
FROM callhouse.call_marks
WHERE (project_id = {v0:String}) AND ((position > ({v1:Array(UInt64)}[indexOf({v1:Array(UInt64)}, partition)])) AND (minute >= toDateTime({v2:Int64}, 'UTC')) AND (minute < toDateTime({v3:Int64}, 'UTC')))
GROUP BY minute
SETTINGS max_threads = 1

-- whether minutes know calls or usage not by op and user (call-stats.minutes-without-ops)
-- {"v0":"ent/proj","v1":60,"v2":60,"v3":7200}
SELECT max(usage_is_by_model OR (length(usage_op) != length(usage_model)) OR ((calls > 0) AND empty(call_op)))
FROM callhouse.call_stats
FINAL
WHERE (project_id = {v0:String}) AND ((seconds = {v1:UInt32}) AND (bucket >= toDateTime({v2:Int64}, 'UTC')) AND (bucket < toDateTime({v3:Int64}, 'UTC')))
SETTINGS output_format_json_quote_64bit_integers = 0

-- what the usage of calls has (call-stats.usage-facts)
-- {"v0":"ent/proj","v1":1000000,"v2":60000000,"v3":3600,"v4":3600,"v5":7200,"v6":60,"v7":60}
WITH
    (
        SELECT (count() > 0, max(notEmpty(usage_model)))
        FROM callhouse.calls
        WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
    ) AS live
SELECT
    live.1,
    live.2,
    max(notEmpty(usage_model)),
    max(arrayExists(n -> (n < 0), usage_input_min) OR arrayExists(n -> (n != 0), arrayConcat(usage_inside_sum, usage_billed_read_sum, usage_billed_write_sum, usage_billed_write_1h_sum, usage_more_output_sum))),
    max((root = 0) AND has(usage_top, 1)),
    max(usage_is_by_model OR (length(usage_op) != length(usage_model)) OR ((calls > 0) AND empty(call_op)))
FROM callhouse.call_stats
FINAL
WHERE (project_id = {v0:String}) AND (((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v4:Int64}, 'UTC')) AND (bucket < toDateTime({v5:Int64}, 'UTC'))) OR ((seconds = {v6:UInt32}) AND (bucket >= toDateTime({v7:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))))
SETTINGS output_format_json_quote_64bit_integers = 0

-- traces of calls (usage.traces)
-- {"v0":"ent/proj","v1":"id","v2":["a","b"]}
SELECT DISTINCT trace
FROM
(
    SELECT argMax(c.trace_id, c.version) AS trace
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
        SELECT started_at
        FROM callhouse.call_keys
        WHERE (project_id = {v0:String}) AND ((kind = {v1:String}) AND (key IN ({v2:Array(String)})))
    )) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.id IN ({v2:Array(String)})))
    GROUP BY c.id
)

-- spans with shares (usage.nested)
-- {"v0":"ent/proj","v1":["1000000"],"v2":["a"]}
SELECT
    toUnixTimestamp64Micro(started_at),
    id
FROM callhouse.usage_shares
FINAL
WHERE (project_id = {v0:String}) AND ((started_at IN (
    SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v1:Array(String)})), 'UTC')
)) AND (id IN ({v2:Array(String)})) AND (nested = 1))

-- calls per bucket (call-stats.calls)
-- {"v3":"ent/proj","v0":0.95,"v1":1,"v2":300000000,"v4":1000000,"v5":2000000,"v6":"op:"}
SELECT
    bucket,
    count(),
    ifNull(avgOrNull(latency), 0),
    maxOrNull(latency),
    if(count(latency) = 0, NULL, (quantilesExactInclusive({v0:Float64})(latency) AS percentiles_of_latency_ms)[{v1:UInt32}])
FROM
(
    SELECT
        intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v2:Int64}), 1000000) AS bucket,
        toUInt8(c.exception != '') AS failed,
        if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v6:String})))
)
GROUP BY bucket
SETTINGS output_format_json_quote_64bit_integers = 0

-- usage per bucket (call-stats.usage)
-- {"v1":"ent/proj","v0":300000000,"v2":1000000,"v3":2000000,"v4":9}
SELECT
    bucket,
    toString(point.1) AS model,
    count(),
    ifNull(sum(if(((point.4) != 0) OR has(with_total, point.1), toFloat64(point.4), NULL)), 0),
    count(if(((point.4) != 0) OR has(with_total, point.1), toFloat64(point.4), NULL))
FROM
(
    SELECT
        bucket,
        arrayJoin(points) AS point,
        nested,
        with_total
    FROM
    (
        SELECT
            *,
            emptyArrayString() AS with_total
        FROM
        (
            SELECT
                c.bucket AS bucket,
                c.end_ver AS end_ver,
                c.id AS id,
                s.nested AS nested,
                if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points
            FROM
            (
                SELECT
                    intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket,
                    c.started_at AS begun,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
            ) AS c
            ANY LEFT JOIN
            (
                SELECT
                    started_at,
                    id,
                    nested,
                    (input, output, total, cache_read, cache_write) AS counted,
                    (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                FROM callhouse.usage_shares
                FINAL
                WHERE (project_id = {v1:String}) AND ((started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (nested = 1))
            ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
        )
    )
)
GROUP BY
    bucket,
    model
LIMIT {v4:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- usage of keys by day (usage.by-key)
-- {"v0":"ent/proj","v1":0,"v2":86400,"v3":10001}
SELECT
    formatDateTime(toStartOfDay(minute), '%Y-%m-%dT00:00:00Z') AS time,
    toInt64(sum(requests)) AS all_requests,
    toInt64(sum(refused)) AS all_refused,
    toInt64(sum(calls)) AS all_calls,
    toInt64(sum(bytes_in)) AS all_bytes_in,
    toInt64(sum(bytes_stored)) AS all_bytes_stored,
    toInt64(sum(reads)) AS all_reads,
    toInt64(sum(read_ms)) AS all_read_ms,
    toInt64(sum(read_bytes)) AS all_read_bytes,
    toInt64(sum(sampled_out)) AS all_sampled_out,
    toInt64(sum(masked)) AS all_masked
FROM callhouse.usage_minutes
FINAL
WHERE (project_id = {v0:String}) AND ((minute >= toDateTime({v1:Int64}, 'UTC')) AND (minute < toDateTime({v2:Int64}, 'UTC')))
GROUP BY time
ORDER BY time ASC
LIMIT {v3:UInt64}

-- usage of keys by key (usage.by-key)
-- {"v0":"ent/proj","v1":0,"v2":86400,"v3":10001}
SELECT
    key_id,
    toInt64(sum(requests)) AS all_requests,
    toInt64(sum(refused)) AS all_refused,
    toInt64(sum(calls)) AS all_calls,
    toInt64(sum(bytes_in)) AS all_bytes_in,
    toInt64(sum(bytes_stored)) AS all_bytes_stored,
    toInt64(sum(reads)) AS all_reads,
    toInt64(sum(read_ms)) AS all_read_ms,
    toInt64(sum(read_bytes)) AS all_read_bytes,
    toInt64(sum(sampled_out)) AS all_sampled_out,
    toInt64(sum(masked)) AS all_masked
FROM callhouse.usage_minutes
FINAL
WHERE (project_id = {v0:String}) AND ((minute >= toDateTime({v1:Int64}, 'UTC')) AND (minute < toDateTime({v2:Int64}, 'UTC')))
GROUP BY key_id
ORDER BY key_id ASC
LIMIT {v3:UInt64}

-- usage of roots and spans (call-stats.usage)
-- {"v1":"ent/proj","v0":300000000,"v2":1000000,"v3":2000000,"v4":9}
SELECT
    bucket,
    toString(point.1) AS model,
    count(),
    ifNull(sum(if(((point.4) != 0) OR has(with_total, point.1), toFloat64(point.4), NULL)), 0),
    count(if(((point.4) != 0) OR has(with_total, point.1), toFloat64(point.4), NULL))
FROM
(
    SELECT
        bucket,
        arrayJoin(points) AS point,
        nested,
        with_total
    FROM
    (
        SELECT
            *,
            emptyArrayString() AS with_total
        FROM
        (
            SELECT
                c.bucket AS bucket,
                c.end_ver AS end_ver,
                c.id AS id,
                s.nested AS nested,
                if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points
            FROM
            (
                SELECT
                    intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket,
                    c.started_at AS begun,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model) AND (((c.parent_id = '') OR ((c.started_at, c.id) IN (
                    SELECT
                        started_at,
                        id
                    FROM callhouse.orphan_roots
                    FINAL
                    WHERE (project_id = {v1:String}) AND (is_orphan = 1)
                ))) OR ((c.start_ver, c.id) IN (
                    SELECT
                        clock,
                        id
                    FROM callhouse.payloads
                    WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (otel_dump != ''))
                ))))
            ) AS c
            ANY LEFT JOIN
            (
                SELECT
                    started_at,
                    id,
                    nested,
                    (input, output, total, cache_read, cache_write) AS counted,
                    (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                FROM callhouse.usage_shares
                FINAL
                WHERE (project_id = {v1:String}) AND ((started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (nested = 1))
            ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
        )
    )
)
GROUP BY
    bucket,
    model
LIMIT {v4:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- usage with exact totals (call-stats.usage)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":300000000,"v4":9}
SELECT
    bucket,
    toString(point.1) AS model,
    count(),
    ifNull(sum(if(((point.4) != 0) OR has(with_total, point.1), toFloat64(point.4), NULL)), 0),
    count(if(((point.4) != 0) OR has(with_total, point.1), toFloat64(point.4), NULL))
FROM
(
    SELECT
        bucket,
        arrayJoin(points) AS point,
        nested,
        with_total
    FROM
    (
        SELECT
            c.*,
            p.with_total AS with_total
        FROM
        (
            SELECT
                clock,
                id,
                arrayMap(entry -> (entry.1), arrayFilter(entry -> (toString(JSONType(entry.2, 'total_tokens')) != 'Null'), JSONExtractKeysAndValuesRaw(summary, 'usage'))) AS with_total
            FROM callhouse.payloads
            WHERE (project_id = {v0:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC'))) OR (at IN (
                SELECT c.output_at
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))))
            ))))
        ) AS p
        ANY RIGHT JOIN
        (
            SELECT
                c.bucket AS bucket,
                c.end_ver AS end_ver,
                c.id AS id,
                s.nested AS nested,
                if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points
            FROM
            (
                SELECT
                    intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v3:Int64}), 1000000) AS bucket,
                    c.started_at AS begun,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
            ) AS c
            ANY LEFT JOIN
            (
                SELECT
                    started_at,
                    id,
                    nested,
                    (input, output, total, cache_read, cache_write) AS counted,
                    (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                FROM callhouse.usage_shares
                FINAL
                WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (nested = 1))
            ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
        ) AS c ON (p.clock = c.end_ver) AND (p.id = c.id)
    )
)
GROUP BY
    bucket,
    model
LIMIT {v4:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- what costs are made of (call-stats.usage)
-- {"v1":"ent/proj","v0":300000000,"v2":1000000,"v3":2000000,"v4":9}
SELECT
    bucket,
    toString(point.1) AS model,
    count(),
    ifNull(sum(toNullable(toFloat64(point.2))), 0),
    ifNull(sum(toNullable(toFloat64(point.3))), 0),
    ifNull(sum(toNullable(toFloat64(bill.inside))), 0),
    ifNull(sum(toNullable(toFloat64(if(counts_cached, 0, bill.apart)))), 0),
    ifNull(sum(toNullable(toFloat64(bill.cache_read))), 0),
    ifNull(sum(toNullable(toFloat64(bill.cache_write))), 0),
    ifNull(sum(toNullable(toFloat64(bill.cache_write_1h))), 0),
    ifNull(sum(toNullable(toFloat64(bill.more_output))), 0)
FROM
(
    SELECT
        bucket,
        point,
        nested,
        bill,
        counts_cached,
        with_total
    FROM
    (
        SELECT
            *,
            emptyArrayString() AS with_total
        FROM
        (
            SELECT
                c.bucket AS bucket,
                c.end_ver AS end_ver,
                c.id AS id,
                s.nested AS nested,
                if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points,
                c.has_cached OR (b.counts_cached = 1) AS counts_cached,
                arrayMap(point -> if(s.nested = 1, CAST(tupleConcat(tuple(toString(point.1)), s.bill), 'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)'), arrayFirst(bill -> (bill.model = (point.1)), b.billed_usage)), points) AS bills
            FROM
            (
                SELECT
                    intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket,
                    c.started_at AS begun,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported,
                    (c.start_ver, c.id) IN (
                        SELECT
                            clock,
                            id
                        FROM callhouse.payloads
                        WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (part = 'start') AND (counts_cached = 1))
                    ) AS has_cached
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
            ) AS c
            ANY LEFT JOIN
            (
                SELECT
                    started_at,
                    id,
                    nested,
                    (input, output, total, cache_read, cache_write) AS counted,
                    (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                FROM callhouse.usage_shares
                FINAL
                WHERE (project_id = {v1:String}) AND ((started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (nested = 1))
            ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
            ANY LEFT JOIN
            (
                SELECT
                    clock,
                    id,
                    billed_usage,
                    counts_cached
                FROM callhouse.payloads
                WHERE (project_id = {v1:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC'))) OR (at IN (
                    SELECT c.output_at
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')))))
                ))) AND notEmpty(billed_usage))
            ) AS b ON (b.clock = c.end_ver) AND (b.id = c.id)
        )
    )
    ARRAY JOIN
        points AS point,
        bills AS bill
)
GROUP BY
    bucket,
    model
LIMIT {v4:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- what costs are made of, where nothing but tokens is billed in whole minutes (call-stats.usage)
-- {"v1":"ent/proj","v0":300000000,"v2":1000000,"v3":2000000,"v4":60000000,"v5":120000000,"v6":150000000,"v7":9}
SELECT
    bucket,
    toString(point.1) AS model,
    count(),
    ifNull(sum(toNullable(toFloat64(point.2))), 0),
    ifNull(sum(toNullable(toFloat64(point.3))), 0),
    ifNull(sum(toNullable(toFloat64(bill.inside))), 0),
    ifNull(sum(toNullable(toFloat64(if(counts_cached, 0, bill.apart)))), 0),
    ifNull(sum(toNullable(toFloat64(bill.cache_read))), 0),
    ifNull(sum(toNullable(toFloat64(bill.cache_write))), 0),
    ifNull(sum(toNullable(toFloat64(bill.cache_write_1h))), 0),
    ifNull(sum(toNullable(toFloat64(bill.more_output))), 0)
FROM
(
    SELECT
        bucket,
        point,
        nested,
        CAST(('', 0, 0, 0, 0, 0, 0), 'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)') AS bill,
        toUInt8(0) AS counts_cached,
        with_total
    FROM
    (
        SELECT
            bucket,
            arrayJoin(points) AS point,
            nested,
            with_total
        FROM
        (
            SELECT
                *,
                emptyArrayString() AS with_total
            FROM
            (
                SELECT
                    c.bucket AS bucket,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    s.nested AS nested,
                    if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points
                FROM
                (
                    SELECT
                        intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket,
                        c.started_at AS begun,
                        c.end_ver AS end_ver,
                        c.id AS id,
                        arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
                ) AS c
                ANY LEFT JOIN
                (
                    SELECT
                        started_at,
                        id,
                        nested,
                        (input, output, total, cache_read, cache_write) AS counted,
                        (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                    FROM callhouse.usage_shares
                    FINAL
                    WHERE (project_id = {v1:String}) AND ((started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND ((started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC'))) AND (nested = 1))
                ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
            )
        )
    )
    UNION ALL
    SELECT *
    FROM
    (
        SELECT
            bucket,
            point,
            nested,
            bill,
            counts_cached,
            with_total
        FROM
        (
            SELECT
                *,
                emptyArrayString() AS with_total
            FROM
            (
                SELECT
                    c.bucket AS bucket,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    s.nested AS nested,
                    if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points,
                    c.has_cached OR (b.counts_cached = 1) AS counts_cached,
                    arrayMap(point -> if(s.nested = 1, CAST(tupleConcat(tuple(toString(point.1)), s.bill), 'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)'), arrayFirst(bill -> (bill.model = (point.1)), b.billed_usage)), points) AS bills
                FROM
                (
                    SELECT
                        intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket,
                        c.started_at AS begun,
                        c.end_ver AS end_ver,
                        c.id AS id,
                        arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported,
                        (c.start_ver, c.id) IN (
                            SELECT
                                clock,
                                id
                            FROM callhouse.payloads
                            WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (((at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) OR ((at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC')))) AND (part = 'start') AND (counts_cached = 1))
                        ) AS has_cached
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) OR ((c.started_at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC')))) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
                ) AS c
                ANY LEFT JOIN
                (
                    SELECT
                        started_at,
                        id,
                        nested,
                        (input, output, total, cache_read, cache_write) AS counted,
                        (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                    FROM callhouse.usage_shares
                    FINAL
                    WHERE (project_id = {v1:String}) AND ((started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (((started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) OR ((started_at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC')))) AND (nested = 1))
                ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
                ANY LEFT JOIN
                (
                    SELECT
                        clock,
                        id,
                        billed_usage,
                        counts_cached
                    FROM callhouse.payloads
                    WHERE (project_id = {v1:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (((at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) OR ((at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC'))))) OR (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) OR ((c.started_at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC')))) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (((c.output_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) OR ((c.output_at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC')))))))
                    ))) AND notEmpty(billed_usage))
                ) AS b ON (b.clock = c.end_ver) AND (b.id = c.id)
            )
        )
        ARRAY JOIN
            points AS point,
            bills AS bill
    )
)
GROUP BY
    bucket,
    model
LIMIT {v7:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- what costs are made of, from hours, minutes and calls (call-stats.usage-rolled)
-- {"v1":"ent/proj","v0":3600,"v2":3600,"v3":7200,"v4":60,"v5":60,"v6":3600000000,"v7":1000000,"v8":2000000,"v9":60000000,"v10":9}
SELECT
    bucket,
    model,
    sum(points),
    sum(input_sum),
    sum(output_sum),
    sum(inside_sum),
    sum(apart_sum),
    sum(billed_read_sum),
    sum(billed_write_sum),
    sum(billed_write_1h_sum),
    sum(more_output_sum)
FROM
(
    SELECT
        start AS bucket,
        toString(model) AS model,
        points,
        input_sum,
        output_sum,
        inside_sum,
        apart_sum,
        billed_read_sum,
        billed_write_sum,
        billed_write_1h_sum,
        more_output_sum
    FROM
    (
        SELECT
            *,
            toInt64(toUnixTimestamp(bucket)) - positiveModulo(toInt64(toUnixTimestamp(bucket)), {v0:Int64}) AS start
        FROM callhouse.call_stats
        FINAL
        WHERE (project_id = {v1:String}) AND (((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v0:Int64}, 'UTC')) AND (bucket < toDateTime({v3:Int64}, 'UTC'))) OR ((seconds = {v4:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v0:Int64}, 'UTC'))))
    )
    ARRAY JOIN
        usage_model AS model,
        usage_points AS points,
        usage_input_sum AS input_sum,
        usage_output_sum AS output_sum,
        usage_inside_sum AS inside_sum,
        usage_apart_sum AS apart_sum,
        usage_billed_read_sum AS billed_read_sum,
        usage_billed_write_sum AS billed_write_sum,
        usage_billed_write_1h_sum AS billed_write_1h_sum,
        usage_more_output_sum AS more_output_sum
    UNION ALL
    SELECT
        bucket,
        toString(point.1),
        toUInt64(1),
        toFloat64(point.2),
        toFloat64(point.3),
        toFloat64(bill.inside),
        toFloat64(if(counts_cached, 0, bill.apart)),
        toFloat64(bill.cache_read),
        toFloat64(bill.cache_write),
        toFloat64(bill.cache_write_1h),
        toFloat64(bill.more_output)
    FROM
    (
        SELECT
            bucket,
            point,
            nested,
            bill,
            counts_cached,
            with_total
        FROM
        (
            SELECT
                *,
                emptyArrayString() AS with_total
            FROM
            (
                SELECT
                    c.bucket AS bucket,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    s.nested AS nested,
                    if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points,
                    c.has_cached OR (b.counts_cached = 1) AS counts_cached,
                    arrayMap(point -> if(s.nested = 1, CAST(tupleConcat(tuple(toString(point.1)), s.bill), 'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)'), arrayFirst(bill -> (bill.model = (point.1)), b.billed_usage)), points) AS bills
                FROM
                (
                    SELECT
                        intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v6:Int64}), 1000000) AS bucket,
                        c.started_at AS begun,
                        c.end_ver AS end_ver,
                        c.id AS id,
                        arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported,
                        (c.start_ver, c.id) IN (
                            SELECT
                                clock,
                                id
                            FROM callhouse.payloads
                            WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (part = 'start') AND (counts_cached = 1))
                        ) AS has_cached
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
                ) AS c
                ANY LEFT JOIN
                (
                    SELECT
                        started_at,
                        id,
                        nested,
                        (input, output, total, cache_read, cache_write) AS counted,
                        (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                    FROM callhouse.usage_shares
                    FINAL
                    WHERE (project_id = {v1:String}) AND ((started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (nested = 1))
                ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
                ANY LEFT JOIN
                (
                    SELECT
                        clock,
                        id,
                        billed_usage,
                        counts_cached
                    FROM callhouse.payloads
                    WHERE (project_id = {v1:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')))) OR (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((c.output_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))))))
                    ))) AND notEmpty(billed_usage))
                ) AS b ON (b.clock = c.end_ver) AND (b.id = c.id)
            )
        )
        ARRAY JOIN
            points AS point,
            bills AS bill
    )
)
GROUP BY
    bucket,
    model
LIMIT {v10:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- calls per bucket from hours and minutes (call-stats.calls-rolled)
-- {"v1":"ent/proj","v0":3600,"v2":60,"v3":60,"v4":3660,"v5":3720,"v6":9000,"v7":3600000000,"v8":1000000,"v9":2000000,"v10":60000000,"v11":3660000000,"v12":3720000000}
SELECT
    bucket,
    sum(calls),
    if(sum(timed) = 0, 0, sum(latency_sum) / sum(timed))
FROM
(
    SELECT
        start AS bucket,
        calls,
        errors,
        timed,
        latency_sum,
        latency_min,
        latency_max,
        latency_ones,
        latency_zeros,
        latencies
    FROM
    (
        SELECT
            *,
            toInt64(toUnixTimestamp(bucket)) - positiveModulo(toInt64(toUnixTimestamp(bucket)), {v0:Int64}) AS start
        FROM callhouse.call_stats
        FINAL
        WHERE (project_id = {v1:String}) AND ((((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v3:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC')))) AND (root = 1))
    )
    WHERE calls > 0
    UNION ALL
    SELECT
        bucket,
        toUInt64(1),
        toUInt64(failed),
        toUInt64(isNotNull(latency)),
        ifNull(latency, 0),
        toUInt64(ifNull(latency, 0)),
        toUInt64(ifNull(latency, 0)),
        toUInt64(ifNull(latency = 1, 0)),
        toUInt64(ifNull(latency = 0, 0)),
        if(isNull(latency), [], [toUInt64(assumeNotNull(latency))])
    FROM
    (
        SELECT
            intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v7:Int64}), 1000000) AS bucket,
            toUInt8(c.exception != '') AS failed,
            if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
        FROM callhouse.calls AS c
        FINAL
        WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')) AND (((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v10:Int64}, 'UTC'))) OR ((c.started_at >= fromUnixTimestamp64Micro({v11:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v12:Int64}, 'UTC')))) AND (c.delete_ver = 0) AND (c.moved = 0))
    )
)
GROUP BY bucket
SETTINGS output_format_json_quote_64bit_integers = 0

-- usage per bucket from hours and minutes (call-stats.usage-rolled)
-- {"v1":"ent/proj","v0":3600,"v2":3600,"v3":0,"v4":7200,"v5":9}
SELECT
    bucket,
    model,
    sum(points),
    sum(total_sum)
FROM
(
    SELECT
        start AS bucket,
        toString(model) AS model,
        points,
        total_sum
    FROM
    (
        SELECT
            *,
            toInt64(toUnixTimestamp(bucket)) - positiveModulo(toInt64(toUnixTimestamp(bucket)), {v0:Int64}) AS start
        FROM callhouse.call_stats
        FINAL
        WHERE (project_id = {v1:String}) AND ((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v3:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC')))
    )
    ARRAY JOIN
        usage_model AS model,
        usage_points AS points,
        usage_top AS top,
        usage_total_sum AS total_sum
    WHERE top = 1
)
GROUP BY
    bucket,
    model
LIMIT {v5:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- what traces come to (traces.figures)
-- {"v0":"ent/proj","v1":20,"v2":"trace_id","v3":["a","b"]}
WITH
    groupArrayIf((c.started_at, c.id), ((c.parent_id = '') OR ((c.started_at, c.id) IN (
        SELECT
            started_at,
            id
        FROM callhouse.orphan_roots
        FINAL
        WHERE (project_id = {v0:String}) AND (is_orphan = 1)
    )))) AS roots
SELECT
    c.trace_id,
    count(),
    countIf(c.exception != ''),
    countIf(c.end_ver = 0),
    min(toUnixTimestamp64Micro(c.started_at)),
    max(toUnixTimestamp64Micro(if(c.end_ver > 0, greatest(c.ended_at, c.started_at), c.started_at))),
    arraySlice(arrayMap(root -> (root.2), arraySort(roots)), 1, {v1:UInt32}),
    (countIf(c.parent_id = '') = 0) AND notEmpty(roots),
    groupUniqArrayIf(toUnixTimestamp64Micro(c.started_at), notEmpty(c.usage_model))
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
    SELECT started_at
    FROM callhouse.call_keys
    WHERE (project_id = {v0:String}) AND ((kind = {v2:String}) AND (key IN ({v3:Array(String)})))
)) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.trace_id IN ({v3:Array(String)})))
GROUP BY c.trace_id
SETTINGS output_format_json_quote_64bit_integers = 0

-- what traces used (traces.usage)
-- {"v1":"ent/proj","v0":60000000,"v2":["2000000"],"v3":[0,3600000000],"v4":["a","b"]}
SELECT
    trace,
    is_top,
    toString(point.1) AS model,
    priced_at,
    sum(toFloat64(if((nested = 0) AND ((point.4) = 0), (point.2) + (point.3), point.4))),
    sumForEach([toFloat64(point.2), toFloat64(point.3), assumeNotNull(toNullable(toFloat64(bill.inside))), assumeNotNull(toNullable(toFloat64(if(counts_cached, 0, bill.apart)))), assumeNotNull(toNullable(toFloat64(bill.cache_read))), assumeNotNull(toNullable(toFloat64(bill.cache_write))), assumeNotNull(toNullable(toFloat64(bill.cache_write_1h))), assumeNotNull(toNullable(toFloat64(bill.more_output)))])
FROM
(
    SELECT
        bucket,
        trace,
        is_top,
        priced_at,
        point,
        nested,
        bill,
        counts_cached,
        with_total
    FROM
    (
        SELECT
            *,
            emptyArrayString() AS with_total
        FROM
        (
            SELECT
                c.bucket AS bucket,
                c.trace AS trace,
                c.is_top AS is_top,
                c.priced_at AS priced_at,
                c.end_ver AS end_ver,
                c.id AS id,
                s.nested AS nested,
                if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points,
                c.has_cached OR (b.counts_cached = 1) AS counts_cached,
                arrayMap(point -> if(s.nested = 1, CAST(tupleConcat(tuple(toString(point.1)), s.bill), 'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)'), arrayFirst(bill -> (bill.model = (point.1)), b.billed_usage)), points) AS bills
            FROM
            (
                SELECT
                    intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket,
                    c.trace_id AS trace,
                    toUInt8((((c.parent_id = '') OR ((c.started_at, c.id) IN (
                        SELECT
                            started_at,
                            id
                        FROM callhouse.orphan_roots
                        FINAL
                        WHERE (project_id = {v1:String}) AND (is_orphan = 1)
                    ))) OR ((c.start_ver, c.id) IN (
                        SELECT
                            clock,
                            id
                        FROM callhouse.payloads
                        WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at IN (
                            SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v2:Array(String)})), 'UTC')
                        )) AND (otel_dump != ''))
                    )))) AS is_top,
                    roundDown(toUnixTimestamp64Micro(c.started_at), {v3:Array(Int64)}) AS priced_at,
                    c.started_at AS begun,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported,
                    (c.start_ver, c.id) IN (
                        SELECT
                            clock,
                            id
                        FROM callhouse.payloads
                        WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at IN (
                            SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v2:Array(String)})), 'UTC')
                        )) AND (part = 'start') AND (counts_cached = 1))
                    ) AS has_cached
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v1:String}) AND ((c.started_at IN (
                    SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v2:Array(String)})), 'UTC')
                )) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.trace_id IN ({v4:Array(String)})) AND notEmpty(c.usage_model))
            ) AS c
            ANY LEFT JOIN
            (
                SELECT
                    started_at,
                    id,
                    nested,
                    (input, output, total, cache_read, cache_write) AS counted,
                    (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                FROM callhouse.usage_shares
                FINAL
                WHERE (project_id = {v1:String}) AND ((started_at IN (
                    SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v2:Array(String)})), 'UTC')
                )) AND (nested = 1))
            ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
            ANY LEFT JOIN
            (
                SELECT
                    clock,
                    id,
                    billed_usage,
                    counts_cached
                FROM callhouse.payloads
                WHERE (project_id = {v1:String}) AND ((part IN ('both', 'end')) AND (at IN (
                    SELECT c.output_at
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v1:String}) AND ((c.started_at IN (
                        SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v2:Array(String)})), 'UTC')
                    )) AND (c.delete_ver = 0) AND (c.moved = 0))
                )) AND notEmpty(billed_usage))
            ) AS b ON (b.clock = c.end_ver) AND (b.id = c.id)
        )
    )
    ARRAY JOIN
        points AS point,
        bills AS bill
)
GROUP BY
    trace,
    is_top,
    model,
    priced_at
SETTINGS output_format_json_quote_64bit_integers = 0

-- models of traces (traces.models)
-- {"v0":"ent/proj","v1":0,"v2":7200000000,"v3":3660000000,"v4":3720000000,"v5":60,"v6":3660,"v7":3720,"v8":7200}
SELECT toString(arrayJoin(groupUniqArrayArray(models)))
FROM
(
    SELECT groupUniqArrayArray(c.usage_model) AS models
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0))
    UNION ALL
    SELECT groupUniqArrayArray(usage_model) AS models
    FROM callhouse.trace_parts
    FINAL
    WHERE (project_id = {v0:String}) AND (((seconds = {v5:UInt32}) AND (bucket >= toDateTime({v1:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))) OR ((seconds = {v5:UInt32}) AND (bucket >= toDateTime({v7:Int64}, 'UTC')) AND (bucket < toDateTime({v8:Int64}, 'UTC'))))
)

-- traces by their cost (traces.order)
-- {"v1":"ent/proj","v0":60000000,"v2":60,"v3":0,"v4":3660,"v5":3720,"v6":7200,"v7":[0.5,1],"v8":["m"],"v9":[3600000000],"v10":1,"v11":[0.25,0.25],"v12":[-0.5,-1],"v13":7200000000,"v14":3660000000,"v15":3720000000,"v16":0,"v17":"gpt","v18":101,"v19":0}
SELECT
    toString(trace),
    toString(minIf(root, root > 0) AS first_root)
FROM
(
    SELECT
        p_trace AS trace,
        (toInt64(toUnixTimestamp(bucket)) * 1000000) + p_begun AS begun,
        if((if(p_root_at = 0, toInt64(0), ((toInt64(toUnixTimestamp(bucket)) * 1000000) + p_root_at) - 1) > 0) AND (if(p_root_at = 0, toInt64(0), ((toInt64(toUnixTimestamp(bucket)) * 1000000) + p_root_at) - 1) >= {v0:Int64}), if(p_root_at = 0, toInt64(0), ((toInt64(toUnixTimestamp(bucket)) * 1000000) + p_root_at) - 1), 0) AS root,
        toUInt8(p_has_top) AS has_top,
        toFloat64(0) AS top_cost,
        toFloat64(0) AS other_cost,
        toUInt64(p_errors) AS errors,
        '' AS model
    FROM
    (
        SELECT
            bucket,
            p_trace,
            p_begun,
            p_root_at,
            p_errors,
            p_has_top
        FROM
        (
            SELECT *
            FROM callhouse.trace_parts
            FINAL
            WHERE (project_id = {v1:String}) AND (((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v3:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))))
        )
        ARRAY JOIN
            trace AS p_trace,
            begun AS p_begun,
            root_at AS p_root_at,
            errors AS p_errors,
            has_top AS p_has_top
    )
    UNION ALL
    SELECT
        u_trace AS trace,
        toInt64(9000000000000000) AS begun,
        toInt64(0) AS root,
        u_top AS has_top,
        if(u_top = 1, ((((u_input * ({v7:Array(Float64)}[if(transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= (toInt64(toUnixTimestamp(bucket)) * 1000000)), {v9:Array(Int64)}) * {v10:Int64}))])) + (u_output * ({v11:Array(Float64)}[if(transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= (toInt64(toUnixTimestamp(bucket)) * 1000000)), {v9:Array(Int64)}) * {v10:Int64}))]))) + (u_inside * ({v12:Array(Float64)}[if(transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= (toInt64(toUnixTimestamp(bucket)) * 1000000)), {v9:Array(Int64)}) * {v10:Int64}))]))) + (u_more_output * ({v11:Array(Float64)}[if(transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= (toInt64(toUnixTimestamp(bucket)) * 1000000)), {v9:Array(Int64)}) * {v10:Int64}))]))), 0) AS top_cost,
        if(u_top = 1, 0, ((((u_input * ({v7:Array(Float64)}[if(transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= (toInt64(toUnixTimestamp(bucket)) * 1000000)), {v9:Array(Int64)}) * {v10:Int64}))])) + (u_output * ({v11:Array(Float64)}[if(transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= (toInt64(toUnixTimestamp(bucket)) * 1000000)), {v9:Array(Int64)}) * {v10:Int64}))]))) + (u_inside * ({v12:Array(Float64)}[if(transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= (toInt64(toUnixTimestamp(bucket)) * 1000000)), {v9:Array(Int64)}) * {v10:Int64}))]))) + (u_more_output * ({v11:Array(Float64)}[if(transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(u_model), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= (toInt64(toUnixTimestamp(bucket)) * 1000000)), {v9:Array(Int64)}) * {v10:Int64}))])))) AS other_cost,
        toUInt64(0) AS errors,
        toString(u_model) AS model
    FROM
    (
        SELECT
            bucket,
            u_trace,
            u_model,
            u_top,
            u_input,
            u_output,
            u_inside,
            u_apart,
            u_billed_read,
            u_billed_write,
            u_billed_write_1h,
            u_more_output
        FROM
        (
            SELECT *
            FROM callhouse.trace_parts
            FINAL
            WHERE (project_id = {v1:String}) AND (((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v3:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))))
        )
        ARRAY JOIN
            usage_trace AS u_trace,
            usage_model AS u_model,
            usage_top AS u_top,
            usage_input AS u_input,
            usage_output AS u_output,
            usage_inside AS u_inside,
            usage_apart AS u_apart,
            usage_billed_read AS u_billed_read,
            usage_billed_write AS u_billed_write,
            usage_billed_write_1h AS u_billed_write_1h,
            usage_more_output AS u_more_output
    )
    UNION ALL
    SELECT
        reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
        toUnixTimestamp64Micro(c.started_at) AS begun,
        if(((c.parent_id = '') OR ((c.started_at, c.id) IN (
            SELECT
                started_at,
                id
            FROM callhouse.orphan_roots
            FINAL
            WHERE (project_id = {v1:String}) AND (is_orphan = 1)
        ))), if((toUnixTimestamp64Micro(c.started_at) > 0) AND (toUnixTimestamp64Micro(c.started_at) >= {v0:Int64}), toUnixTimestamp64Micro(c.started_at), 0), 0) AS root,
        toUInt8(0) AS has_top,
        toFloat64(0) AS top_cost,
        toFloat64(0) AS other_cost,
        toUInt64(c.exception != '') AS errors,
        '' AS model
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v13:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v14:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v15:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0))
    UNION ALL
    SELECT
        trace AS trace,
        toInt64(9000000000000000) AS begun,
        toInt64(0) AS root,
        is_top AS has_top,
        if(is_top = 1, ((((toFloat64(point.2) * ({v7:Array(Float64)}[if(transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= priced_at), {v9:Array(Int64)}) * {v10:Int64}))])) + (toFloat64(point.3) * ({v11:Array(Float64)}[if(transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= priced_at), {v9:Array(Int64)}) * {v10:Int64}))]))) + (assumeNotNull(toNullable(toFloat64(bill.inside))) * ({v12:Array(Float64)}[if(transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= priced_at), {v9:Array(Int64)}) * {v10:Int64}))]))) + (assumeNotNull(toNullable(toFloat64(bill.more_output))) * ({v11:Array(Float64)}[if(transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= priced_at), {v9:Array(Int64)}) * {v10:Int64}))]))), 0) AS top_cost,
        if(is_top = 1, 0, ((((toFloat64(point.2) * ({v7:Array(Float64)}[if(transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= priced_at), {v9:Array(Int64)}) * {v10:Int64}))])) + (toFloat64(point.3) * ({v11:Array(Float64)}[if(transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= priced_at), {v9:Array(Int64)}) * {v10:Int64}))]))) + (assumeNotNull(toNullable(toFloat64(bill.inside))) * ({v12:Array(Float64)}[if(transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= priced_at), {v9:Array(Int64)}) * {v10:Int64}))]))) + (assumeNotNull(toNullable(toFloat64(bill.more_output))) * ({v11:Array(Float64)}[if(transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) = 0, 0, transform(toString(point.1), {v8:Array(String)}, arrayEnumerate({v8:Array(String)}), 0) + (arrayCount(at -> (at <= priced_at), {v9:Array(Int64)}) * {v10:Int64}))])))) AS other_cost,
        toUInt64(0) AS errors,
        toString(point.1) AS model
    FROM
    (
        SELECT
            bucket,
            trace,
            is_top,
            priced_at,
            point,
            nested,
            bill,
            counts_cached,
            with_total
        FROM
        (
            SELECT
                *,
                emptyArrayString() AS with_total
            FROM
            (
                SELECT
                    c.bucket AS bucket,
                    c.trace AS trace,
                    c.is_top AS is_top,
                    c.priced_at AS priced_at,
                    c.end_ver AS end_ver,
                    c.id AS id,
                    s.nested AS nested,
                    if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points,
                    c.has_cached OR (b.counts_cached = 1) AS counts_cached,
                    arrayMap(point -> if(s.nested = 1, CAST(tupleConcat(tuple(toString(point.1)), s.bill), 'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)'), arrayFirst(bill -> (bill.model = (point.1)), b.billed_usage)), points) AS bills
                FROM
                (
                    SELECT
                        intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket,
                        reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
                        toUInt8((((c.parent_id = '') OR ((c.started_at, c.id) IN (
                            SELECT
                                started_at,
                                id
                            FROM callhouse.orphan_roots
                            FINAL
                            WHERE (project_id = {v1:String}) AND (is_orphan = 1)
                        ))) OR ((c.start_ver, c.id) IN (
                            SELECT
                                clock,
                                id
                            FROM callhouse.payloads
                            WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v13:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v14:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v15:Int64}, 'UTC'))) AND (otel_dump != ''))
                        )))) AS is_top,
                        toUnixTimestamp64Micro(c.started_at) AS priced_at,
                        c.started_at AS begun,
                        c.end_ver AS end_ver,
                        c.id AS id,
                        arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported,
                        (c.start_ver, c.id) IN (
                            SELECT
                                clock,
                                id
                            FROM callhouse.payloads
                            WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v13:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v14:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v15:Int64}, 'UTC'))) AND (part = 'start') AND (counts_cached = 1))
                        ) AS has_cached
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v13:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v14:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v15:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
                ) AS c
                ANY LEFT JOIN
                (
                    SELECT
                        started_at,
                        id,
                        nested,
                        (input, output, total, cache_read, cache_write) AS counted,
                        (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                    FROM callhouse.usage_shares
                    FINAL
                    WHERE (project_id = {v1:String}) AND ((started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v13:Int64}, 'UTC')) AND ((started_at >= fromUnixTimestamp64Micro({v14:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v15:Int64}, 'UTC'))) AND (nested = 1))
                ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
                ANY LEFT JOIN
                (
                    SELECT
                        clock,
                        id,
                        billed_usage,
                        counts_cached
                    FROM callhouse.payloads
                    WHERE (project_id = {v1:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v13:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v14:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v15:Int64}, 'UTC')))) OR (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v13:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v14:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v15:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v13:Int64}, 'UTC')) AND ((c.output_at >= fromUnixTimestamp64Micro({v14:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v15:Int64}, 'UTC'))))))
                    ))) AND notEmpty(billed_usage))
                ) AS b ON (b.clock = c.end_ver) AND (b.id = c.id)
            )
        )
        ARRAY JOIN
            points AS point,
            bills AS bill
    )
)
GROUP BY trace
HAVING (first_root > 0) AND (sum(errors) > {v16:Float64}) AND (max((positionCaseInsensitiveUTF8(model, {v17:String}) > 0) AND (model != '')) = 1)
ORDER BY
    if(max(has_top) = 1, sum(top_cost), sum(other_cost)) DESC,
    min(begun) DESC,
    trace ASC
LIMIT {v19:UInt64}, {v18:UInt64}

-- traces of some roots by their spans, from the calls (traces.order)
-- {"v0":"ent/proj","v1":0,"v2":7200000000,"v3":1000000,"v4":["op"],"v5":101,"v6":5}
SELECT
    toString(trace),
    toString(minIf(root, root > 0) AS first_root)
FROM
(
    SELECT
        reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
        toUnixTimestamp64Micro(c.started_at) AS begun,
        if(((c.parent_id = '') OR ((c.started_at, c.id) IN (
            SELECT
                started_at,
                id
            FROM callhouse.orphan_roots
            FINAL
            WHERE (project_id = {v0:String}) AND (is_orphan = 1)
        ))), toInt64(0), 0) AS root,
        toUInt64(1) AS spans
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0))
    UNION ALL
    SELECT
        reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
        toInt64(9000000000000000) AS begun,
        toUnixTimestamp64Micro(c.started_at) AS root,
        toUInt64(0) AS spans
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
        SELECT
            started_at,
            id
        FROM callhouse.orphan_roots
        FINAL
        WHERE (project_id = {v0:String}) AND (is_orphan = 1)
    ))) AND (c.op_name IN ({v4:Array(String)})))
)
GROUP BY trace
HAVING first_root > 0
ORDER BY
    sum(spans) ASC,
    min(begun) DESC,
    trace ASC
LIMIT {v6:UInt64}, {v5:UInt64}

-- how many traces there are, and how many of them have errors (traces.counts)
-- {"v1":"ent/proj","v0":60000000,"v2":60,"v3":0,"v4":3660,"v5":3720,"v6":7200,"v7":7200000000,"v8":3660000000,"v9":3720000000,"v10":3,"v11":["m"],"v12":["n"]}
SELECT
    count(),
    countIf(failed > 0)
FROM
(
    SELECT
        minIf(root, root > 0) AS first_root,
        sum(errors) AS failed
    FROM
    (
        SELECT
            p_trace AS trace,
            (toInt64(toUnixTimestamp(bucket)) * 1000000) + p_begun AS begun,
            if((if(p_root_at = 0, toInt64(0), ((toInt64(toUnixTimestamp(bucket)) * 1000000) + p_root_at) - 1) > 0) AND (if(p_root_at = 0, toInt64(0), ((toInt64(toUnixTimestamp(bucket)) * 1000000) + p_root_at) - 1) >= {v0:Int64}), if(p_root_at = 0, toInt64(0), ((toInt64(toUnixTimestamp(bucket)) * 1000000) + p_root_at) - 1), 0) AS root,
            toUInt64(p_errors) AS errors,
            toUInt64(p_spans) AS spans,
            '' AS model
        FROM
        (
            SELECT
                bucket,
                p_trace,
                p_begun,
                p_root_at,
                p_spans,
                p_errors
            FROM
            (
                SELECT *
                FROM callhouse.trace_parts
                FINAL
                WHERE (project_id = {v1:String}) AND (((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v3:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))))
            )
            ARRAY JOIN
                trace AS p_trace,
                begun AS p_begun,
                root_at AS p_root_at,
                spans AS p_spans,
                errors AS p_errors
        )
        UNION ALL
        SELECT
            u_trace AS trace,
            toInt64(9000000000000000) AS begun,
            toInt64(0) AS root,
            toUInt64(0) AS errors,
            toUInt64(0) AS spans,
            toString(u_model) AS model
        FROM
        (
            SELECT
                bucket,
                u_trace,
                u_model,
                u_top
            FROM
            (
                SELECT *
                FROM callhouse.trace_parts
                FINAL
                WHERE (project_id = {v1:String}) AND (((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v3:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v2:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))))
            )
            ARRAY JOIN
                usage_trace AS u_trace,
                usage_model AS u_model,
                usage_top AS u_top
        )
        UNION ALL
        SELECT
            reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
            toUnixTimestamp64Micro(c.started_at) AS begun,
            if(((c.parent_id = '') OR ((c.started_at, c.id) IN (
                SELECT
                    started_at,
                    id
                FROM callhouse.orphan_roots
                FINAL
                WHERE (project_id = {v1:String}) AND (is_orphan = 1)
            ))), if((toUnixTimestamp64Micro(c.started_at) > 0) AND (toUnixTimestamp64Micro(c.started_at) >= {v0:Int64}), toUnixTimestamp64Micro(c.started_at), 0), 0) AS root,
            toUInt64(c.exception != '') AS errors,
            toUInt64(1) AS spans,
            '' AS model
        FROM callhouse.calls AS c
        FINAL
        WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0))
        UNION ALL
        SELECT
            trace AS trace,
            toInt64(9000000000000000) AS begun,
            toInt64(0) AS root,
            toUInt64(0) AS errors,
            toUInt64(0) AS spans,
            toString(point.1) AS model
        FROM
        (
            SELECT
                bucket,
                trace,
                is_top,
                priced_at,
                arrayJoin(points) AS point,
                nested,
                with_total
            FROM
            (
                SELECT
                    *,
                    emptyArrayString() AS with_total
                FROM
                (
                    SELECT
                        c.bucket AS bucket,
                        c.trace AS trace,
                        c.is_top AS is_top,
                        c.priced_at AS priced_at,
                        c.end_ver AS end_ver,
                        c.id AS id,
                        s.nested AS nested,
                        if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points
                    FROM
                    (
                        SELECT
                            intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket,
                            reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
                            toUInt8((((c.parent_id = '') OR ((c.started_at, c.id) IN (
                                SELECT
                                    started_at,
                                    id
                                FROM callhouse.orphan_roots
                                FINAL
                                WHERE (project_id = {v1:String}) AND (is_orphan = 1)
                            ))) OR ((c.start_ver, c.id) IN (
                                SELECT
                                    clock,
                                    id
                                FROM callhouse.payloads
                                WHERE (project_id = {v1:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (otel_dump != ''))
                            )))) AS is_top,
                            toUnixTimestamp64Micro(c.started_at) AS priced_at,
                            c.started_at AS begun,
                            c.end_ver AS end_ver,
                            c.id AS id,
                            arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
                    ) AS c
                    ANY LEFT JOIN
                    (
                        SELECT
                            started_at,
                            id,
                            nested,
                            (input, output, total, cache_read, cache_write) AS counted,
                            (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                        FROM callhouse.usage_shares
                        FINAL
                        WHERE (project_id = {v1:String}) AND ((started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND ((started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (nested = 1))
                    ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
                )
            )
        )
    )
    GROUP BY trace
    HAVING (first_root > 0) AND (sum(spans) > {v10:Float64}) AND (max((model != '') AND (lowerUTF8(model) IN (
        SELECT lowerUTF8(arrayJoin({v11:Array(String)}))
    ))) = 1) AND (max((model != '') AND (lowerUTF8(model) IN (
        SELECT lowerUTF8(arrayJoin({v12:Array(String)}))
    ))) = 0)
)
SETTINGS output_format_json_quote_64bit_integers = 0

-- roots of traces with errors (calls.count)
-- {"v0":"ent/proj","v1":0,"v2":7200000000,"v3":"op","v4":60,"v5":3660,"v6":3720,"v7":7200,"v8":3660000000,"v9":3720000000}
SELECT toString(count())
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
    SELECT
        started_at,
        id
    FROM callhouse.orphan_roots
    FINAL
    WHERE (project_id = {v0:String}) AND (is_orphan = 1)
))) AND (c.op_name = {v3:String}) AND (reinterpretAsUInt128(sipHash128(c.trace_id)) IN (
    SELECT g.trace_key
    FROM
    (
        SELECT
            trace AS trace_key,
            toFloat64(sum(errors)) AS trace_errors
        FROM
        (
            SELECT
                p_trace AS trace,
                toUInt64(p_errors) AS errors
            FROM
            (
                SELECT
                    bucket,
                    p_trace,
                    p_errors
                FROM
                (
                    SELECT *
                    FROM callhouse.trace_parts
                    FINAL
                    WHERE (project_id = {v0:String}) AND (((seconds = {v4:UInt32}) AND (bucket >= toDateTime({v1:Int64}, 'UTC')) AND (bucket < toDateTime({v5:Int64}, 'UTC'))) OR ((seconds = {v4:UInt32}) AND (bucket >= toDateTime({v6:Int64}, 'UTC')) AND (bucket < toDateTime({v7:Int64}, 'UTC'))))
                )
                ARRAY JOIN
                    trace AS p_trace,
                    errors AS p_errors
            )
            UNION ALL
            SELECT
                reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
                toUInt64(c.exception != '') AS errors
            FROM callhouse.calls AS c
            FINAL
            WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0))
        )
        GROUP BY trace
    ) AS g
    WHERE (g.trace_errors > {v1:Int64})
)))

-- roots of traces with errors or of an operation, by model (calls.sorted-keys)
-- {"v0":"ent/proj","v1":0,"v2":7200000000,"v3":60,"v4":3660,"v5":3720,"v6":7200,"v7":3660000000,"v8":3720000000,"v9":60000000,"v10":"op","v11":10}
SELECT
    toUnixTimestamp64Micro(c.started_at),
    c.id
FROM
(
    SELECT
        c.odd AS odd,
        c.started_at AS started_at,
        c.id AS id,
        c.start_ver AS start_ver,
        c.end_ver AS end_ver,
        c.trace_id AS trace_id,
        t.trace_models AS trace_models
    FROM
    (
        SELECT
            c.*,
            0 AS odd
        FROM
        (
            SELECT
                c.started_at AS started_at,
                c.id AS id,
                c.start_ver AS start_ver,
                c.end_ver AS end_ver,
                c.trace_id AS trace_id
            FROM callhouse.calls AS c
            FINAL
            WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
                SELECT
                    started_at,
                    id
                FROM callhouse.orphan_roots
                FINAL
                WHERE (project_id = {v0:String}) AND (is_orphan = 1)
            ))) AND ((c.start_ver, c.end_ver, concat(c.id, '')) IN (
                SELECT
                    c.start_ver,
                    c.end_ver,
                    c.id
                FROM
                (
                    SELECT
                        c.odd AS odd,
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.trace_id AS trace_id,
                        c.op_name AS op_name,
                        t.trace_errors AS trace_errors
                    FROM
                    (
                        SELECT
                            c.*,
                            0 AS odd
                        FROM
                        (
                            SELECT
                                c.started_at AS started_at,
                                c.id AS id,
                                c.start_ver AS start_ver,
                                c.end_ver AS end_ver,
                                c.trace_id AS trace_id,
                                c.op_name AS op_name
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
                                SELECT
                                    started_at,
                                    id
                                FROM callhouse.orphan_roots
                                FINAL
                                WHERE (project_id = {v0:String}) AND (is_orphan = 1)
                            ))))
                        ) AS c
                    ) AS c
                    LEFT JOIN
                    (
                        SELECT
                            trace AS trace_key,
                            toFloat64(sum(errors)) AS trace_errors,
                            arraySort(if(max(has_top) = 1, groupUniqArrayIf(model, (model != '') AND (has_top = 1)), groupUniqArrayIf(model, model != ''))) AS trace_models
                        FROM
                        (
                            SELECT
                                p_trace AS trace,
                                toUInt64(p_errors) AS errors,
                                toUInt8(p_has_top) AS has_top,
                                '' AS model
                            FROM
                            (
                                SELECT
                                    bucket,
                                    p_trace,
                                    p_errors,
                                    p_has_top
                                FROM
                                (
                                    SELECT *
                                    FROM callhouse.trace_parts
                                    FINAL
                                    WHERE (project_id = {v0:String}) AND (((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v1:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))))
                                )
                                ARRAY JOIN
                                    trace AS p_trace,
                                    errors AS p_errors,
                                    has_top AS p_has_top
                            )
                            UNION ALL
                            SELECT
                                u_trace AS trace,
                                toUInt64(0) AS errors,
                                u_top AS has_top,
                                toString(u_model) AS model
                            FROM
                            (
                                SELECT
                                    bucket,
                                    u_trace,
                                    u_model,
                                    u_top
                                FROM
                                (
                                    SELECT *
                                    FROM callhouse.trace_parts
                                    FINAL
                                    WHERE (project_id = {v0:String}) AND (((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v1:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))))
                                )
                                ARRAY JOIN
                                    usage_trace AS u_trace,
                                    usage_model AS u_model,
                                    usage_top AS u_top
                            )
                            UNION ALL
                            SELECT
                                reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
                                toUInt64(c.exception != '') AS errors,
                                toUInt8(0) AS has_top,
                                '' AS model
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0))
                            UNION ALL
                            SELECT
                                trace AS trace,
                                toUInt64(0) AS errors,
                                is_top AS has_top,
                                toString(point.1) AS model
                            FROM
                            (
                                SELECT
                                    bucket,
                                    trace,
                                    is_top,
                                    priced_at,
                                    arrayJoin(points) AS point,
                                    nested,
                                    with_total
                                FROM
                                (
                                    SELECT
                                        *,
                                        emptyArrayString() AS with_total
                                    FROM
                                    (
                                        SELECT
                                            c.bucket AS bucket,
                                            c.trace AS trace,
                                            c.is_top AS is_top,
                                            c.priced_at AS priced_at,
                                            c.end_ver AS end_ver,
                                            c.id AS id,
                                            s.nested AS nested,
                                            if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points
                                        FROM
                                        (
                                            SELECT
                                                intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v9:Int64}), 1000000) AS bucket,
                                                reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
                                                toUInt8((((c.parent_id = '') OR ((c.started_at, c.id) IN (
                                                    SELECT
                                                        started_at,
                                                        id
                                                    FROM callhouse.orphan_roots
                                                    FINAL
                                                    WHERE (project_id = {v0:String}) AND (is_orphan = 1)
                                                ))) OR ((c.start_ver, c.id) IN (
                                                    SELECT
                                                        clock,
                                                        id
                                                    FROM callhouse.payloads
                                                    WHERE (project_id = {v0:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) AND (otel_dump != ''))
                                                )))) AS is_top,
                                                toUnixTimestamp64Micro(c.started_at) AS priced_at,
                                                c.started_at AS begun,
                                                c.end_ver AS end_ver,
                                                c.id AS id,
                                                arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported
                                            FROM callhouse.calls AS c
                                            FINAL
                                            WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
                                        ) AS c
                                        ANY LEFT JOIN
                                        (
                                            SELECT
                                                started_at,
                                                id,
                                                nested,
                                                (input, output, total, cache_read, cache_write) AS counted,
                                                (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                                            FROM callhouse.usage_shares
                                            FINAL
                                            WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) AND (nested = 1))
                                        ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
                                    )
                                )
                            )
                        )
                        GROUP BY trace
                    ) AS t ON t.trace_key = reinterpretAsUInt128(sipHash128(c.trace_id))
                ) AS c
                WHERE ((c.trace_errors > {v1:Int64}) OR (c.op_name = {v10:String}))
            )))
        ) AS c
    ) AS c
    LEFT JOIN
    (
        SELECT
            trace AS trace_key,
            toFloat64(sum(errors)) AS trace_errors,
            arraySort(if(max(has_top) = 1, groupUniqArrayIf(model, (model != '') AND (has_top = 1)), groupUniqArrayIf(model, model != ''))) AS trace_models
        FROM
        (
            SELECT
                p_trace AS trace,
                toUInt64(p_errors) AS errors,
                toUInt8(p_has_top) AS has_top,
                '' AS model
            FROM
            (
                SELECT
                    bucket,
                    p_trace,
                    p_errors,
                    p_has_top
                FROM
                (
                    SELECT *
                    FROM callhouse.trace_parts
                    FINAL
                    WHERE (project_id = {v0:String}) AND (((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v1:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))))
                )
                ARRAY JOIN
                    trace AS p_trace,
                    errors AS p_errors,
                    has_top AS p_has_top
            )
            UNION ALL
            SELECT
                u_trace AS trace,
                toUInt64(0) AS errors,
                u_top AS has_top,
                toString(u_model) AS model
            FROM
            (
                SELECT
                    bucket,
                    u_trace,
                    u_model,
                    u_top
                FROM
                (
                    SELECT *
                    FROM callhouse.trace_parts
                    FINAL
                    WHERE (project_id = {v0:String}) AND (((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v1:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v6:Int64}, 'UTC'))))
                )
                ARRAY JOIN
                    usage_trace AS u_trace,
                    usage_model AS u_model,
                    usage_top AS u_top
            )
            UNION ALL
            SELECT
                reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
                toUInt64(c.exception != '') AS errors,
                toUInt8(0) AS has_top,
                '' AS model
            FROM callhouse.calls AS c
            FINAL
            WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0))
            UNION ALL
            SELECT
                trace AS trace,
                toUInt64(0) AS errors,
                is_top AS has_top,
                toString(point.1) AS model
            FROM
            (
                SELECT
                    bucket,
                    trace,
                    is_top,
                    priced_at,
                    arrayJoin(points) AS point,
                    nested,
                    with_total
                FROM
                (
                    SELECT
                        *,
                        emptyArrayString() AS with_total
                    FROM
                    (
                        SELECT
                            c.bucket AS bucket,
                            c.trace AS trace,
                            c.is_top AS is_top,
                            c.priced_at AS priced_at,
                            c.end_ver AS end_ver,
                            c.id AS id,
                            s.nested AS nested,
                            if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points
                        FROM
                        (
                            SELECT
                                intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v9:Int64}), 1000000) AS bucket,
                                reinterpretAsUInt128(sipHash128(c.trace_id)) AS trace,
                                toUInt8((((c.parent_id = '') OR ((c.started_at, c.id) IN (
                                    SELECT
                                        started_at,
                                        id
                                    FROM callhouse.orphan_roots
                                    FINAL
                                    WHERE (project_id = {v0:String}) AND (is_orphan = 1)
                                ))) OR ((c.start_ver, c.id) IN (
                                    SELECT
                                        clock,
                                        id
                                    FROM callhouse.payloads
                                    WHERE (project_id = {v0:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) AND (otel_dump != ''))
                                )))) AS is_top,
                                toUnixTimestamp64Micro(c.started_at) AS priced_at,
                                c.started_at AS begun,
                                c.end_ver AS end_ver,
                                c.id AS id,
                                arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model))
                        ) AS c
                        ANY LEFT JOIN
                        (
                            SELECT
                                started_at,
                                id,
                                nested,
                                (input, output, total, cache_read, cache_write) AS counted,
                                (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
                            FROM callhouse.usage_shares
                            FINAL
                            WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) AND (nested = 1))
                        ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
                    )
                )
            )
        )
        GROUP BY trace
    ) AS t ON t.trace_key = reinterpretAsUInt128(sipHash128(c.trace_id))
) AS c
ORDER BY
    nullIf(arrayStringConcat(c.trace_models, ', '), '') ASC NULLS LAST,
    c.id DESC
LIMIT {v11:UInt64}

-- ids of traces (traces.ids)
-- {"v0":"ent/proj","v1":1000000,"v2":["2000000"],"v3":["op"],"v4":["17"]}
SELECT DISTINCT
    toString(reinterpretAsUInt128(sipHash128(c.trace_id))),
    c.trace_id
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at IN (
    SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v2:Array(String)})), 'UTC')
)) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
    SELECT
        started_at,
        id
    FROM callhouse.orphan_roots
    FINAL
    WHERE (project_id = {v0:String}) AND (is_orphan = 1)
))) AND (c.op_name IN ({v3:Array(String)})) AND (reinterpretAsUInt128(sipHash128(c.trace_id)) IN (
    SELECT toUInt128(arrayJoin({v4:Array(String)}))
)))
