-- traces of calls (usage.traces)
-- {"v0":"ent/proj","v1":["a","b"]}
SELECT DISTINCT trace FROM
      (SELECT argMax(c.trace_id, c.version) AS trace
      FROM callhouse.calls AS c FINAL WHERE c.project_id = {v0:String} AND (c.started_at IN (SELECT started_at FROM callhouse.calls_by_id WHERE project_id = {v0:String} AND (id IN {v1:Array(String)})) AND c.delete_ver = 0 AND c.moved = 0 AND c.id IN {v1:Array(String)}) GROUP BY c.id)

-- calls per bucket (call-stats.calls)
-- {"v0":0.95,"v1":300000000,"v2":"ent/proj","v3":1000000,"v4":2000000,"v5":"op:"}
SELECT bucket, count(), ifNull(avgOrNull(latency), 0), maxOrNull(latency), quantileExactInclusiveOrNull({v0:Float64})(latency) FROM
    (
      SELECT intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v1:Int64}), 1000000) AS bucket, toUInt8(c.exception != '') AS failed,
        if(c.end_ver > 0 AND c.ended_at >= c.started_at,
          toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
      FROM callhouse.calls AS c FINAL WHERE c.project_id = {v2:String} AND (c.started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC') AND c.started_at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC') AND c.delete_ver = 0 AND c.moved = 0 AND (startsWith(c.op_name, {v5:String})))
    )
    GROUP BY bucket SETTINGS output_format_json_quote_64bit_integers = 0

-- usage per bucket (call-stats.usage)
-- {"v0":300000000,"v1":"ent/proj","v2":1000000,"v3":2000000}
SELECT bucket, toString(point.1) AS model, count(), ifNull(sum(if(point.4 != 0 OR has(with_total, point.1), toFloat64(point.4), NULL)), 0), count(if(point.4 != 0 OR has(with_total, point.1), toFloat64(point.4), NULL)) FROM (SELECT bucket, arrayJoin(points) AS point, emptyArrayString() AS with_total FROM (SELECT intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket, c.end_ver AS end_ver, c.id AS id, arrayZip(c.usage_model, c.usage_input,
        c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS points FROM callhouse.calls AS c FINAL WHERE c.project_id = {v1:String} AND (c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC') AND c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC') AND c.delete_ver = 0 AND c.moved = 0 AND notEmpty(c.usage_model))))
    GROUP BY bucket, model SETTINGS output_format_json_quote_64bit_integers = 0

-- usage of roots and spans (call-stats.usage)
-- {"v0":300000000,"v1":"ent/proj","v2":1000000,"v3":2000000}
SELECT bucket, toString(point.1) AS model, count(), ifNull(sum(if(point.4 != 0 OR has(with_total, point.1), toFloat64(point.4), NULL)), 0), count(if(point.4 != 0 OR has(with_total, point.1), toFloat64(point.4), NULL)) FROM (SELECT bucket, arrayJoin(points) AS point, emptyArrayString() AS with_total FROM (SELECT intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v0:Int64}), 1000000) AS bucket, c.end_ver AS end_ver, c.id AS id, arrayZip(c.usage_model, c.usage_input,
        c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS points FROM callhouse.calls AS c FINAL WHERE c.project_id = {v1:String} AND (c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC') AND c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC') AND c.delete_ver = 0 AND c.moved = 0 AND notEmpty(c.usage_model) AND (c.parent_id = '' OR (c.start_ver, c.id) IN (SELECT clock, id FROM callhouse.payloads WHERE project_id = {v1:String} AND (part IN ('both', 'start') AND at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC') AND at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC') AND otel_dump != ''))))))
    GROUP BY bucket, model SETTINGS output_format_json_quote_64bit_integers = 0

-- usage with exact totals (call-stats.usage)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":300000000}
SELECT bucket, toString(point.1) AS model, count(), ifNull(sum(if(point.4 != 0 OR has(with_total, point.1), toFloat64(point.4), NULL)), 0), count(if(point.4 != 0 OR has(with_total, point.1), toFloat64(point.4), NULL)) FROM (SELECT c.bucket AS bucket, arrayJoin(c.points) AS point, p.with_total AS with_total
        FROM (SELECT clock, id, arrayMap(entry -> entry.1,
        arrayFilter(entry -> toString(JSONType(entry.2, 'total_tokens')) != 'Null', JSONExtractKeysAndValuesRaw(summary, 'usage'))) AS with_total
      FROM callhouse.payloads WHERE project_id = {v0:String} AND (part IN ('both', 'end') AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC') AND at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC') OR at IN (SELECT c.output_at FROM callhouse.calls AS c FINAL WHERE c.project_id = {v0:String} AND (c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC') AND c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC') AND c.delete_ver = 0 AND c.moved = 0 AND NOT (c.output_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC') AND c.output_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC'))))))) AS p RIGHT JOIN (SELECT intDiv(toUnixTimestamp64Micro(c.started_at) - positiveModulo(toUnixTimestamp64Micro(c.started_at), {v3:Int64}), 1000000) AS bucket, c.end_ver AS end_ver, c.id AS id, arrayZip(c.usage_model, c.usage_input,
        c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS points FROM callhouse.calls AS c FINAL WHERE c.project_id = {v0:String} AND (c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC') AND c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC') AND c.delete_ver = 0 AND c.moved = 0 AND notEmpty(c.usage_model))) AS c ON p.clock = c.end_ver AND p.id = c.id)
    GROUP BY bucket, model SETTINGS output_format_json_quote_64bit_integers = 0
