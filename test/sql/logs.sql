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
-- {"v0":"ent/proj","v1":"1000000000","v2":"2000000000","v3":"t","v4":"s","v5":["e"],"v6":9,"v7":"x","v8":50,"v9":0}
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
)) AND (event_name IN ({v5:Array(String)})) AND (severity >= {v6:UInt64}) AND ((position(body, {v7:String}) > 0) OR arrayExists(one -> (position(one, {v7:String}) > 0), mapValues(attributes))))
ORDER BY
    at ASC,
    id ASC
LIMIT 1 BY
    at,
    id
LIMIT {v9:UInt64}, {v8:UInt64}
SETTINGS max_result_bytes = 12582912, max_memory_usage = 134217728

-- keys of records (logs.query)
-- {"v2":"ent/proj","v0":["claude_code.user_prompt","codex.user_prompt","gemini_cli.user_prompt"],"v1":["session.id","conversation.id","prompt.id","prompt_id"],"v3":"1000000000","v4":"2000000000","v5":10,"v6":5}
SELECT
    concat(toString(toUnixTimestamp64Nano(at)), '_', id) AS key,
    (length(body) + length(toString(attributes))) + 2000 AS bytes,
    trace_id,
    span_id,
    if((event_name IN ({v0:Array(String)})), arrayMap(name -> (attributes[name]), {v1:Array(String)}), []) AS said
FROM callhouse.logs
WHERE (project_id = {v2:String}) AND ((at >= fromUnixTimestamp64Nano({v3:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Nano({v4:Int64}, 'UTC')))
ORDER BY
    at ASC,
    id ASC
LIMIT 1 BY
    at,
    id
LIMIT {v6:UInt64}, {v5:UInt64}

-- whether anything was deleted (logs.any-deleted)
-- {"v0":"ent/proj"}
SELECT count()
FROM
(
    SELECT 1
    FROM callhouse.calls_deleted
    WHERE project_id = {v0:String}
    LIMIT 1
    UNION ALL
    SELECT 1
    FROM callhouse.logs_deleted
    WHERE project_id = {v0:String}
    LIMIT 1
)

-- which of some records are hidden (logs.hidden)
-- {"v0":"ent/proj","v1":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],"v2":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","cccccccccccccccc"],"v3":["bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]}
SELECT DISTINCT
    'log' AS kind,
    id AS a,
    '' AS b
FROM callhouse.logs_deleted
WHERE (project_id = {v0:String}) AND (id IN ({v1:Array(String)}))
UNION ALL
SELECT DISTINCT
    'call',
    id,
    trace_id
FROM callhouse.calls_deleted
WHERE (project_id = {v0:String}) AND (id IN ({v2:Array(String)}))
UNION ALL
SELECT DISTINCT
    'trace',
    trace_id,
    ''
FROM callhouse.calls_deleted
WHERE (project_id = {v0:String}) AND ((trace_id IN ({v3:Array(String)})) AND (trace_id NOT IN (
    SELECT trace_id
    FROM callhouse.calls
    FINAL
    WHERE (project_id = {v0:String}) AND ((started_at IN (
        SELECT started_at
        FROM callhouse.call_keys
        WHERE (project_id = {v0:String}) AND ((kind = 'trace_id') AND (key IN (
            SELECT trace_id
            FROM callhouse.calls_deleted
            WHERE (project_id = {v0:String}) AND (trace_id IN ({v3:Array(String)}))
        )))
    )) AND (trace_id IN (
        SELECT trace_id
        FROM callhouse.calls_deleted
        WHERE (project_id = {v0:String}) AND (trace_id IN ({v3:Array(String)}))
    )) AND (delete_ver = 0) AND (moved = 0))
)))

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
