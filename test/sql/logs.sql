-- a page of records (logs.query)
-- {"v0":"ent/proj","v1":"1000000000","v2":"2000000000","v3":50,"v4":0}
SELECT
    concat(toString(toUnixTimestamp64Nano(at)), '_', id) AS key,
    toString(toUnixTimestamp64Nano(at)) AS at_ns,
    id,
    toString(toUnixTimestamp64Nano(observed_at)) AS observed_ns,
    trace_id,
    span_id,
    severity,
    severity_text,
    event_name,
    body,
    body_json,
    attributes,
    json_keys,
    resource,
    scope
FROM callhouse.logs
WHERE (project_id = {v0:String}) AND ((at >= fromUnixTimestamp64Nano({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Nano({v2:Int64}, 'UTC')))
ORDER BY
    at ASC,
    id ASC
LIMIT 1 BY
    at,
    id
LIMIT {v4:UInt64}, {v3:UInt64}
SETTINGS max_result_bytes = 12582912, max_memory_usage = 134217728

-- records by all conditions (logs.query)
-- {"v0":"ent/proj","v1":"1000000000","v2":"2000000000","v3":"t","v4":"s","v5":["e"],"v6":9,"v7":"x","v8":"1700000000000000","v9":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","v10":50,"v11":0}
SELECT
    concat(toString(toUnixTimestamp64Nano(at)), '_', id) AS key,
    toString(toUnixTimestamp64Nano(at)) AS at_ns,
    id,
    toString(toUnixTimestamp64Nano(observed_at)) AS observed_ns,
    trace_id,
    span_id,
    severity,
    severity_text,
    event_name,
    body,
    body_json,
    attributes,
    json_keys,
    resource,
    scope
FROM callhouse.logs
WHERE (project_id = {v0:String}) AND ((at >= fromUnixTimestamp64Nano({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Nano({v2:Int64}, 'UTC')) AND ((at, id) IN (
    SELECT
        at,
        id
    FROM callhouse.logs_by_span
    WHERE (project_id = {v0:String}) AND ((trace_id = {v3:String}) AND (span_id = {v4:String}))
)) AND (event_name IN ({v5:Array(String)})) AND (severity >= {v6:UInt64}) AND ((position(body, {v7:String}) > 0) OR arrayExists(one -> (position(one, {v7:String}) > 0), mapValues(attributes))) AND (at >= fromUnixTimestamp64Nano({v8:Int64}, 'UTC')) AND ((at, id) > (fromUnixTimestamp64Nano({v8:Int64}, 'UTC'), {v9:String})))
ORDER BY
    at ASC,
    id ASC
LIMIT 1 BY
    at,
    id
LIMIT {v11:UInt64}, {v10:UInt64}
SETTINGS max_result_bytes = 12582912, max_memory_usage = 134217728

-- keys of records (logs.query)
-- {"v0":"ent/proj","v1":"1000000000","v2":"2000000000","v3":10,"v4":5}
SELECT
    concat(toString(toUnixTimestamp64Nano(at)), '_', id) AS key,
    (length(body) + length(toString(attributes))) + 2000 AS bytes
FROM callhouse.logs
WHERE (project_id = {v0:String}) AND ((at >= fromUnixTimestamp64Nano({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Nano({v2:Int64}, 'UTC')))
ORDER BY
    at ASC,
    id ASC
LIMIT 1 BY
    at,
    id
LIMIT {v4:UInt64}, {v3:UInt64}

-- records by their keys (logs.of-keys)
-- {"v0":"ent/proj","v1":"1700000000000000","v2":"1700000000000001","v3":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]}
SELECT
    concat(toString(toUnixTimestamp64Nano(at)), '_', id) AS key,
    toString(toUnixTimestamp64Nano(at)) AS at_ns,
    id,
    toString(toUnixTimestamp64Nano(observed_at)) AS observed_ns,
    trace_id,
    span_id,
    severity,
    severity_text,
    event_name,
    body,
    body_json,
    attributes,
    json_keys,
    resource,
    scope
FROM callhouse.logs
WHERE (project_id = {v0:String}) AND ((at >= fromUnixTimestamp64Nano({v1:Int64}, 'UTC')) AND (at <= fromUnixTimestamp64Nano({v2:Int64}, 'UTC')) AND (id IN ({v3:Array(String)})))
LIMIT 1 BY
    at,
    id
