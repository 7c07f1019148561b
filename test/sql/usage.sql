-- minutes that lag (call-stats.dirty-minutes)
-- {"v0":"ent/proj","v1":[],"v2":0,"v3":60}
SELECT toUnixTimestamp(minute)
FROM callhouse.call_marks
WHERE (project_id = {v0:String}) AND ((position > ({v1:Array(UInt64)}[indexOf({v1:Array(UInt64)}, partition)])) AND (minute >= toDateTime({v2:Int64}, 'UTC')) AND (minute < toDateTime({v3:Int64}, 'UTC')))
GROUP BY minute
SETTINGS max_threads = 1

-- whether minutes know usage by model alone (call-stats.minutes-by-model)
-- {"v0":"ent/proj","v1":60,"v2":60,"v3":7200}
SELECT max(usage_is_by_model OR (length(usage_op) != length(usage_model)))
FROM callhouse.call_stats
FINAL
WHERE (project_id = {v0:String}) AND (((seconds = {v1:UInt32}) AND (bucket >= toDateTime({v2:Int64}, 'UTC')) AND (bucket < toDateTime({v3:Int64}, 'UTC'))) AND notEmpty(usage_model))
SETTINGS output_format_json_quote_64bit_integers = 0

-- what the usage of calls has (call-stats.usage-facts)
-- {"v0":"ent/proj","v1":3600,"v2":3600,"v3":7200,"v4":60,"v5":60}
SELECT
    count() > 0,
    max(arrayExists(n -> (n < 0), usage_input_min) OR arrayExists(n -> (n != 0), arrayConcat(usage_inside_sum, usage_billed_read_sum, usage_billed_write_sum, usage_billed_write_1h_sum, usage_more_output_sum))),
    max((root = 0) AND has(usage_top, 1)),
    max(usage_is_by_model OR (length(usage_op) != length(usage_model)))
FROM callhouse.call_stats
FINAL
WHERE (project_id = {v0:String}) AND ((((seconds = {v1:UInt32}) AND (bucket >= toDateTime({v2:Int64}, 'UTC')) AND (bucket < toDateTime({v3:Int64}, 'UTC'))) OR ((seconds = {v4:UInt32}) AND (bucket >= toDateTime({v5:Int64}, 'UTC')) AND (bucket < toDateTime({v2:Int64}, 'UTC')))) AND notEmpty(usage_model))
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
                WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND notEmpty(c.usage_model) AND ((c.parent_id = '') OR ((c.start_ver, c.id) IN (
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
        CAST(('', 0, 0, 0, 0, 0, 0), 'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)') AS bill,
        toUInt8(0) AS counts_cached,
        with_total
    FROM
    (
        SELECT
            bucket,
            arrayJoin(points) AS point,
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
                    WHERE (project_id = {v1:String}) AND ((part IN ('both', 'end')) AND (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) OR ((c.started_at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC')))) AND (c.delete_ver = 0) AND (c.moved = 0))
                    )) AND notEmpty(billed_usage))
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
                    WHERE (project_id = {v1:String}) AND ((part IN ('both', 'end')) AND (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0))
                    )) AND notEmpty(billed_usage))
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
