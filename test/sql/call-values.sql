-- fields of a sample (calls.fields)
-- {"v0":"ent/proj","v1":"inputs","v2":-3599000000,"v3":1000000,"v4":1000001,"v5":["1000000"],"v6":["2000000"],"v7":9}
SELECT
    path,
    groupArray((form, n)),
    sum(n) AS calls
FROM
(
    SELECT
        path,
        form,
        count() AS n
    FROM
    (
        SELECT
            path,
            if((kind = 'text') AND (s IN ('true', 'false')), 'bool', toString(kind)) AS form,
            s
        FROM
        (
            SELECT
                path,
                kind,
                part,
                arrayJoin(arrayZip(at, multiIf(kind = 'number', arrayMap(x -> toString(x), num), (kind IN ('text', 'numeral')), str, arrayMap(x -> '', at)))) AS one,
                one.1 AS us,
                one.2 AS s
            FROM callhouse.payload_leaves
            WHERE (project_id = {v0:String}) AND (startsWith(path, {v1:String}) AND ((part = 'end') OR ((least > {v2:Int64}) AND (most >= {v3:Int64}) AND (least < {v4:Int64}))))
        )
        WHERE ((part != 'end') AND (us IN (
            SELECT toInt64(arrayJoin({v5:Array(String)}))
        ))) OR ((part = 'end') AND (us IN (
            SELECT toInt64(arrayJoin({v6:Array(String)}))
        )))
    )
    GROUP BY
        path,
        form
)
GROUP BY path
ORDER BY
    calls DESC,
    path ASC
LIMIT {v7:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- fields of feedback (calls.fields-feedback)
-- {"v0":"ent/proj","v1":"weave:///ent/proj/call/","v2":["a"],"v3":9}
SELECT
    feedback_type,
    member.1,
    toString(JSONType(member.2)) AS type,
    uniqExact(weave_ref) AS calls
FROM
(
    SELECT
        f.feedback_type AS feedback_type,
        f.weave_ref AS weave_ref,
        arrayJoin(JSONExtractKeysAndValuesRaw(f.payload)) AS member
    FROM callhouse.feedback AS f
    FINAL
    WHERE (f.project_id = {v0:String}) AND ((f.id IN (
        SELECT id
        FROM callhouse.feedback_by_ref
        WHERE (project_id = {v0:String}) AND (weave_ref IN (
            SELECT concat({v1:String}, arrayJoin({v2:Array(String)}))
        ))
    )) AND (f.weave_ref IN (
        SELECT concat({v1:String}, arrayJoin({v2:Array(String)}))
    )) AND (f.purged = 0))
)
GROUP BY
    feedback_type,
    member.1,
    type
ORDER BY
    calls DESC,
    feedback_type ASC,
    member.1 ASC
LIMIT {v3:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- values in the field index (calls.values)
-- {"v0":"ent/proj","v1":["inputs.k"],"v2":-3599000000,"v3":1000000,"v4":1000001,"v5":["1000000"],"v6":["2000000"],"v7":"x","v8":9}
SELECT
    path,
    form,
    s,
    count() AS calls
FROM
(
    SELECT
        path,
        if((kind = 'text') AND (s IN ('true', 'false')), 'bool', toString(kind)) AS form,
        s
    FROM
    (
        SELECT
            path,
            kind,
            part,
            arrayJoin(arrayZip(at, multiIf(kind = 'number', arrayMap(x -> toString(x), num), (kind IN ('text', 'numeral')), str, arrayMap(x -> '', at)))) AS one,
            one.1 AS us,
            one.2 AS s
        FROM callhouse.payload_leaves
        WHERE (project_id = {v0:String}) AND ((path IN ({v1:Array(String)})) AND ((part = 'end') OR ((least > {v2:Int64}) AND (most >= {v3:Int64}) AND (least < {v4:Int64}))))
    )
    WHERE ((part != 'end') AND (us IN (
        SELECT toInt64(arrayJoin({v5:Array(String)}))
    ))) OR ((part = 'end') AND (us IN (
        SELECT toInt64(arrayJoin({v6:Array(String)}))
    )))
)
WHERE ((form IN ('long', 'hollow', 'opaque')) OR (positionCaseInsensitiveUTF8(s, {v7:String}) = 1))
GROUP BY
    path,
    form,
    s
ORDER BY
    calls DESC,
    s ASC
LIMIT {v8:UInt64} BY path
SETTINGS output_format_json_quote_64bit_integers = 0

-- values of columns (calls.column-values)
-- {"v1":"ent/proj","v0":0,"v2":1000000,"v3":1000001,"v4":["1000000"],"v5":["a"],"v6":"x","v7":9}
SELECT
    n,
    s,
    count() AS calls
FROM
(
    SELECT
        arrayJoin([({v0:UInt8}, ifNull(toString(multiIf(c.exception != '', 'error', c.end_ver = 0, 'running', c.error_count > 0, 'descendant_error', 'success')), ''))]) AS pair,
        pair.1 AS n,
        pair.2 AS s
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.started_at IN (
        SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v4:Array(String)})), 'UTC')
    )) AND (c.id IN ({v5:Array(String)})) AND (c.delete_ver = 0) AND (c.moved = 0))
)
WHERE (s != '') AND (positionCaseInsensitiveUTF8(s, {v6:String}) = 1)
GROUP BY
    n,
    s
ORDER BY
    calls DESC,
    s ASC
LIMIT {v7:UInt64} BY n
SETTINGS output_format_json_quote_64bit_integers = 0

-- spans of a sample (calls.span-attributes)
-- {"v6":"ent/proj","v0":"\r","v1":"\r1","v2":"\r2","v3":"\r3","v4":"\r4","v5":"\r5","v7":["1000000"],"v8":65536,"v9":500,"v10":2097152}
SELECT
    us,
    id,
    text
FROM
(
    SELECT
        us,
        id,
        clock,
        text,
        sum(length(text)) OVER (ORDER BY us DESC, id ASC, clock DESC) AS bytes
    FROM
    (
        SELECT
            toUnixTimestamp64Micro(at) AS us,
            id,
            clock,
            if(position(otel_dump, {v0:String}) = 0, otel_dump, replaceAll(replaceAll(replaceAll(replaceAll(replaceAll(otel_dump, {v1:String}, 'null'), {v2:String}, 'null'), {v3:String}, 'null'), {v4:String}, 'null'), {v5:String}, attributes)) AS text
        FROM callhouse.payloads
        WHERE (project_id = {v6:String}) AND ((at IN (
            SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v7:Array(String)})), 'UTC')
        )) AND (part != 'end') AND (otel_dump != '') AND (length(otel_dump) <= {v8:UInt64}))
        ORDER BY
            at DESC,
            clock DESC
        LIMIT {v9:UInt64}
    )
    WHERE length(text) <= {v8:UInt64}
)
WHERE bytes <= {v10:UInt64}
ORDER BY
    us DESC,
    id ASC,
    clock DESC

-- calls by op and a field (calls.aggregate)
-- {"v7":"ent/proj","v0":0.5,"v1":1,"v2":["a"],"v3":["b"],"v4":"Europe/Paris","v5":"k","v6":"score","v8":1000000,"v9":2000000,"v10":"op:"}
SELECT
    bucket,
    kept,
    k0,
    k1,
    count() AS points,
    ifNull(sum(toNullable(1)), 0),
    if(count(v0) = 0, NULL, (quantilesExactInclusive({v0:Float64})(v0) AS percentiles_of_v0)[{v1:UInt32}])
FROM
(
    SELECT * REPLACE (if(kept, k0, '') AS k0, if(kept, k1, '') AS k1)
    FROM
    (
        SELECT
            *,
            (k0, k1) IN (
                SELECT arrayJoin(arrayZip({v2:Array(String)}, {v3:Array(String)}))
            ) AS kept
        FROM
        (
            SELECT
                toString(toDate32(c.started_at, {v4:String})) AS bucket,
                replaceRegexpOne(c.op_name, '^weave:///[^/]+/[^/]+/op/([^/:]+):[\\s\\S]*$', '\\1') AS k0,
                ifNull(toString(JSONExtractString(c.inputs, {v5:String})), '') AS k1,
                toNullable(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v6:String})), NULL)) AS v0,
                toUInt8(c.exception != '') AS failed,
                if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
            FROM
            (
                SELECT
                    odd,
                    started_at,
                    id,
                    start_ver,
                    end_ver,
                    ended_at,
                    parent_id,
                    exception,
                    usage_model,
                    usage_input,
                    usage_output,
                    usage_total,
                    usage_cache_read,
                    usage_cache_write,
                    op_name,
                    inputs,
                    output
                FROM
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.ended_at AS ended_at,
                        c.parent_id AS parent_id,
                        c.exception AS exception,
                        c.usage_model AS usage_model,
                        c.usage_input AS usage_input,
                        c.usage_output AS usage_output,
                        c.usage_total AS usage_total,
                        c.usage_cache_read AS usage_cache_read,
                        c.usage_cache_write AS usage_cache_write,
                        c.op_name AS op_name,
                        p.odd AS odd,
                        p.inputs AS inputs,
                        p.output AS output
                    FROM
                    (
                        SELECT
                            clock,
                            id,
                            odd,
                            inputs,
                            output
                        FROM callhouse.payloads
                        WHERE (project_id = {v7:String}) AND ((part = 'both') AND (part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')))
                    ) AS p
                    ANY RIGHT JOIN
                    (
                        SELECT
                            c.started_at AS started_at,
                            c.id AS id,
                            c.start_ver AS start_ver,
                            c.end_ver AS end_ver,
                            c.ended_at AS ended_at,
                            c.parent_id AS parent_id,
                            c.exception AS exception,
                            c.usage_model AS usage_model,
                            c.usage_input AS usage_input,
                            c.usage_output AS usage_output,
                            c.usage_total AS usage_total,
                            c.usage_cache_read AS usage_cache_read,
                            c.usage_cache_write AS usage_cache_write,
                            c.op_name AS op_name
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v7:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v10:String})) AND (c.start_ver = c.end_ver))
                    ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
                )
                UNION ALL
                SELECT
                    odd,
                    started_at,
                    id,
                    start_ver,
                    end_ver,
                    ended_at,
                    parent_id,
                    exception,
                    usage_model,
                    usage_input,
                    usage_output,
                    usage_total,
                    usage_cache_read,
                    usage_cache_write,
                    op_name,
                    inputs,
                    output
                FROM
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.ended_at AS ended_at,
                        c.parent_id AS parent_id,
                        c.exception AS exception,
                        c.usage_model AS usage_model,
                        c.usage_input AS usage_input,
                        c.usage_output AS usage_output,
                        c.usage_total AS usage_total,
                        c.usage_cache_read AS usage_cache_read,
                        c.usage_cache_write AS usage_cache_write,
                        c.op_name AS op_name,
                        c.inputs AS inputs,
                        greatest(p.odd, c.odd) AS odd,
                        p.output AS output
                    FROM
                    (
                        SELECT
                            clock,
                            id,
                            odd,
                            output
                        FROM callhouse.payloads
                        WHERE (project_id = {v7:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) OR (at IN (
                            SELECT c.output_at
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v7:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')))))
                        ))) AND (concat(id, '') IN (
                            SELECT c.id
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v7:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v10:String})) AND (c.start_ver != c.end_ver))
                        )))
                    ) AS p
                    ANY RIGHT JOIN
                    (
                        SELECT
                            c.started_at AS started_at,
                            c.id AS id,
                            c.start_ver AS start_ver,
                            c.end_ver AS end_ver,
                            c.ended_at AS ended_at,
                            c.parent_id AS parent_id,
                            c.exception AS exception,
                            c.usage_model AS usage_model,
                            c.usage_input AS usage_input,
                            c.usage_output AS usage_output,
                            c.usage_total AS usage_total,
                            c.usage_cache_read AS usage_cache_read,
                            c.usage_cache_write AS usage_cache_write,
                            c.op_name AS op_name,
                            p.odd AS odd,
                            p.inputs AS inputs
                        FROM
                        (
                            SELECT
                                clock,
                                id,
                                odd,
                                inputs
                            FROM callhouse.payloads
                            WHERE (project_id = {v7:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')) AND (concat(id, '') IN (
                                SELECT c.id
                                FROM callhouse.calls AS c
                                FINAL
                                WHERE (c.project_id = {v7:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v10:String})) AND (c.start_ver != c.end_ver))
                            )))
                        ) AS p
                        ANY RIGHT JOIN
                        (
                            SELECT
                                c.started_at AS started_at,
                                c.id AS id,
                                c.start_ver AS start_ver,
                                c.end_ver AS end_ver,
                                c.ended_at AS ended_at,
                                c.parent_id AS parent_id,
                                c.exception AS exception,
                                c.usage_model AS usage_model,
                                c.usage_input AS usage_input,
                                c.usage_output AS usage_output,
                                c.usage_total AS usage_total,
                                c.usage_cache_read AS usage_cache_read,
                                c.usage_cache_write AS usage_cache_write,
                                c.op_name AS op_name
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v7:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v10:String})) AND (c.start_ver != c.end_ver))
                        ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
                    ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
                )
            ) AS c
        )
    )
)
GROUP BY
    GROUPING SETS (
        (kept, k0, k1, bucket),
        (kept, k0, k1))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0

-- calls by ranges of a field (calls.aggregate)
-- {"v6":"ent/proj","v0":0.5,"v1":1,"v2":["a"],"v3":"Europe/Paris","v4":"score","v5":0.05,"v7":1000000,"v8":2000000,"v9":"op:"}
SELECT
    bucket,
    kept,
    k0,
    count() AS points,
    ifNull(sum(toNullable(1)), 0),
    if(count(v0) = 0, NULL, (quantilesExactInclusive({v0:Float64})(v0) AS percentiles_of_v0)[{v1:UInt32}])
FROM
(
    SELECT * REPLACE (if(kept, k0, '') AS k0)
    FROM
    (
        SELECT
            *,
            (k0) IN (
                SELECT (arrayJoin(arrayZip({v2:Array(String)}))).1
            ) AS kept
        FROM
        (
            SELECT
                toString(toDate32(c.started_at, {v3:String})) AS bucket,
                if(isFinite(toNullable(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v4:String})), NULL))), toString(floor(assumeNotNull(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v4:String})), NULL)) / {v5:Float64}) + 0), '') AS k0,
                toNullable(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v4:String})), NULL)) AS v0,
                toUInt8(c.exception != '') AS failed,
                if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
            FROM
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver,
                    c.ended_at AS ended_at,
                    c.parent_id AS parent_id,
                    c.exception AS exception,
                    c.usage_model AS usage_model,
                    c.usage_input AS usage_input,
                    c.usage_output AS usage_output,
                    c.usage_total AS usage_total,
                    c.usage_cache_read AS usage_cache_read,
                    c.usage_cache_write AS usage_cache_write,
                    p.odd AS odd,
                    p.output AS output
                FROM
                (
                    SELECT
                        clock,
                        id,
                        odd,
                        output
                    FROM callhouse.payloads
                    WHERE (project_id = {v6:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) OR (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v6:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')))))
                    ))))
                ) AS p
                ANY RIGHT JOIN
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.ended_at AS ended_at,
                        c.parent_id AS parent_id,
                        c.exception AS exception,
                        c.usage_model AS usage_model,
                        c.usage_input AS usage_input,
                        c.usage_output AS usage_output,
                        c.usage_total AS usage_total,
                        c.usage_cache_read AS usage_cache_read,
                        c.usage_cache_write AS usage_cache_write
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v6:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v9:String})))
                ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
            ) AS c
        )
    )
)
GROUP BY
    GROUPING SETS (
        (kept, k0, bucket),
        (kept, k0))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0

-- calls by the first of two fields (calls.aggregate)
-- {"v6":"ent/proj","v0":0.5,"v1":1,"v2":["a"],"v3":"Europe/Paris","v4":"k","v5":"score","v7":1000000,"v8":2000000,"v9":"op:"}
SELECT
    bucket,
    kept,
    k0,
    count() AS points,
    ifNull(sum(toNullable(1)), 0),
    if(count(v0) = 0, NULL, (quantilesExactInclusive({v0:Float64})(v0) AS percentiles_of_v0)[{v1:UInt32}])
FROM
(
    SELECT * REPLACE (if(kept, k0, '') AS k0)
    FROM
    (
        SELECT
            *,
            (k0) IN (
                SELECT (arrayJoin(arrayZip({v2:Array(String)}))).1
            ) AS kept
        FROM
        (
            SELECT
                toString(toDate32(c.started_at, {v3:String})) AS bucket,
                ifNull(toString(coalesce(nullIf(toString(JSONExtractString(c.inputs, {v4:String})), ''), toString(JSONExtractString(c.output, {v4:String})))), '') AS k0,
                toNullable(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v5:String})), NULL)) AS v0,
                toUInt8(c.exception != '') AS failed,
                if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
            FROM
            (
                SELECT
                    odd,
                    started_at,
                    id,
                    start_ver,
                    end_ver,
                    ended_at,
                    parent_id,
                    exception,
                    usage_model,
                    usage_input,
                    usage_output,
                    usage_total,
                    usage_cache_read,
                    usage_cache_write,
                    inputs,
                    output
                FROM
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.ended_at AS ended_at,
                        c.parent_id AS parent_id,
                        c.exception AS exception,
                        c.usage_model AS usage_model,
                        c.usage_input AS usage_input,
                        c.usage_output AS usage_output,
                        c.usage_total AS usage_total,
                        c.usage_cache_read AS usage_cache_read,
                        c.usage_cache_write AS usage_cache_write,
                        p.odd AS odd,
                        p.inputs AS inputs,
                        p.output AS output
                    FROM
                    (
                        SELECT
                            clock,
                            id,
                            odd,
                            inputs,
                            output
                        FROM callhouse.payloads
                        WHERE (project_id = {v6:String}) AND ((part = 'both') AND (part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')))
                    ) AS p
                    ANY RIGHT JOIN
                    (
                        SELECT
                            c.started_at AS started_at,
                            c.id AS id,
                            c.start_ver AS start_ver,
                            c.end_ver AS end_ver,
                            c.ended_at AS ended_at,
                            c.parent_id AS parent_id,
                            c.exception AS exception,
                            c.usage_model AS usage_model,
                            c.usage_input AS usage_input,
                            c.usage_output AS usage_output,
                            c.usage_total AS usage_total,
                            c.usage_cache_read AS usage_cache_read,
                            c.usage_cache_write AS usage_cache_write
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v6:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v9:String})) AND (c.start_ver = c.end_ver))
                    ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
                )
                UNION ALL
                SELECT
                    odd,
                    started_at,
                    id,
                    start_ver,
                    end_ver,
                    ended_at,
                    parent_id,
                    exception,
                    usage_model,
                    usage_input,
                    usage_output,
                    usage_total,
                    usage_cache_read,
                    usage_cache_write,
                    inputs,
                    output
                FROM
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.ended_at AS ended_at,
                        c.parent_id AS parent_id,
                        c.exception AS exception,
                        c.usage_model AS usage_model,
                        c.usage_input AS usage_input,
                        c.usage_output AS usage_output,
                        c.usage_total AS usage_total,
                        c.usage_cache_read AS usage_cache_read,
                        c.usage_cache_write AS usage_cache_write,
                        c.inputs AS inputs,
                        greatest(p.odd, c.odd) AS odd,
                        p.output AS output
                    FROM
                    (
                        SELECT
                            clock,
                            id,
                            odd,
                            output
                        FROM callhouse.payloads
                        WHERE (project_id = {v6:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) OR (at IN (
                            SELECT c.output_at
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v6:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')))))
                        ))) AND (concat(id, '') IN (
                            SELECT c.id
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v6:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v9:String})) AND (c.start_ver != c.end_ver))
                        )))
                    ) AS p
                    ANY RIGHT JOIN
                    (
                        SELECT
                            c.started_at AS started_at,
                            c.id AS id,
                            c.start_ver AS start_ver,
                            c.end_ver AS end_ver,
                            c.ended_at AS ended_at,
                            c.parent_id AS parent_id,
                            c.exception AS exception,
                            c.usage_model AS usage_model,
                            c.usage_input AS usage_input,
                            c.usage_output AS usage_output,
                            c.usage_total AS usage_total,
                            c.usage_cache_read AS usage_cache_read,
                            c.usage_cache_write AS usage_cache_write,
                            p.odd AS odd,
                            p.inputs AS inputs
                        FROM
                        (
                            SELECT
                                clock,
                                id,
                                odd,
                                inputs
                            FROM callhouse.payloads
                            WHERE (project_id = {v6:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (concat(id, '') IN (
                                SELECT c.id
                                FROM callhouse.calls AS c
                                FINAL
                                WHERE (c.project_id = {v6:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v9:String})) AND (c.start_ver != c.end_ver))
                            )))
                        ) AS p
                        ANY RIGHT JOIN
                        (
                            SELECT
                                c.started_at AS started_at,
                                c.id AS id,
                                c.start_ver AS start_ver,
                                c.end_ver AS end_ver,
                                c.ended_at AS ended_at,
                                c.parent_id AS parent_id,
                                c.exception AS exception,
                                c.usage_model AS usage_model,
                                c.usage_input AS usage_input,
                                c.usage_output AS usage_output,
                                c.usage_total AS usage_total,
                                c.usage_cache_read AS usage_cache_read,
                                c.usage_cache_write AS usage_cache_write
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v6:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v9:String})) AND (c.start_ver != c.end_ver))
                        ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
                    ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
                )
            ) AS c
        )
    )
)
GROUP BY
    GROUPING SETS (
        (kept, k0, bucket),
        (kept, k0))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0

-- whole traces by op (calls.aggregate)
-- {"v4":"ent/proj","v0":0.95,"v1":1,"v2":["a"],"v3":"Europe/Paris","v5":1000000,"v6":2000000}
SELECT
    bucket,
    kept,
    k0,
    count() AS points,
    ifNull(sum(toNullable(1)), 0),
    ifNull(sum(v0), 0),
    if(count(v1) = 0, NULL, (quantilesExactInclusive({v0:Float64})(v1) AS percentiles_of_v1)[{v1:UInt32}]),
    sumOrNull(v2)
FROM
(
    SELECT * REPLACE (if(kept, k0, '') AS k0)
    FROM
    (
        SELECT
            *,
            (k0) IN (
                SELECT (arrayJoin(arrayZip({v2:Array(String)}))).1
            ) AS kept
        FROM
        (
            SELECT
                toString(toDate32(c.started_at, {v3:String})) AS bucket,
                replaceRegexpOne(c.op_name, '^weave:///[^/]+/[^/]+/op/([^/:]+):[\\s\\S]*$', '\\1') AS k0,
                toNullable(toUInt8(toFloat64(c.trace_errors) > 0)) AS v0,
                toNullable(toFloat64(c.trace_duration_ms)) AS v1,
                toNullable(toFloat64(c.trace_cost)) AS v2,
                toUInt8(c.exception != '') AS failed,
                if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
            FROM
            (
                SELECT *
                FROM
                (
                    SELECT
                        c.odd AS odd,
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.trace_id AS trace_id,
                        c.ended_at AS ended_at,
                        c.parent_id AS parent_id,
                        c.exception AS exception,
                        c.op_name AS op_name,
                        t.trace_errors AS trace_errors,
                        t.trace_duration_ms AS trace_duration_ms,
                        t.trace_cost AS trace_cost
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
                                c.ended_at AS ended_at,
                                c.parent_id AS parent_id,
                                c.exception AS exception,
                                c.op_name AS op_name
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v4:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
                                SELECT
                                    started_at,
                                    id
                                FROM callhouse.orphan_roots
                                FINAL
                                WHERE (project_id = {v4:String}) AND (is_orphan = 1)
                            ))))
                        ) AS c
                    ) AS c
                    LEFT JOIN
                    (
                        SELECT 'whole traces'
                    ) AS t ON t.trace_key = reinterpretAsUInt128(sipHash128(c.trace_id))
                )
                ORDER BY
                    started_at ASC,
                    id ASC
                LIMIT 1 BY trace_id
            ) AS c
        )
    )
)
GROUP BY
    GROUPING SETS (
        (kept, k0, bucket),
        (kept, k0))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0

-- calls by latency (calls.aggregate)
-- {"v5":"ent/proj","v0":0.5,"v1":1,"v2":["a"],"v3":"Europe/Paris","v4":"score","v6":1000000,"v7":2000000,"v8":"op:"}
SELECT
    bucket,
    kept,
    k0,
    count() AS points,
    ifNull(sum(toNullable(1)), 0),
    if(count(v0) = 0, NULL, (quantilesExactInclusive({v0:Float64})(v0) AS percentiles_of_v0)[{v1:UInt32}])
FROM
(
    SELECT * REPLACE (if(kept, k0, '') AS k0)
    FROM
    (
        SELECT
            *,
            (k0) IN (
                SELECT (arrayJoin(arrayZip({v2:Array(String)}))).1
            ) AS kept
        FROM
        (
            SELECT
                toString(toDate32(c.started_at, {v3:String})) AS bucket,
                multiIf(isNull(if(c.end_ver = 0, NULL, intDiv(greatest(0, toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at)), 1000))), '', if(c.end_ver = 0, NULL, intDiv(greatest(0, toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at)), 1000)) < 1, '0', toString(toUInt64(ceil(exp2(floor(log2(assumeNotNull(if(c.end_ver = 0, NULL, intDiv(greatest(0, toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at)), 1000)))) * 2) / 2))))) AS k0,
                toNullable(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v4:String})), NULL)) AS v0,
                toUInt8(c.exception != '') AS failed,
                if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
            FROM
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver,
                    c.ended_at AS ended_at,
                    c.parent_id AS parent_id,
                    c.exception AS exception,
                    c.usage_model AS usage_model,
                    c.usage_input AS usage_input,
                    c.usage_output AS usage_output,
                    c.usage_total AS usage_total,
                    c.usage_cache_read AS usage_cache_read,
                    c.usage_cache_write AS usage_cache_write,
                    p.odd AS odd,
                    p.output AS output
                FROM
                (
                    SELECT
                        clock,
                        id,
                        odd,
                        output
                    FROM callhouse.payloads
                    WHERE (project_id = {v5:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v6:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v7:Int64}, 'UTC'))) OR (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v5:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v6:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v6:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v7:Int64}, 'UTC')))))
                    ))))
                ) AS p
                ANY RIGHT JOIN
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.ended_at AS ended_at,
                        c.parent_id AS parent_id,
                        c.exception AS exception,
                        c.usage_model AS usage_model,
                        c.usage_input AS usage_input,
                        c.usage_output AS usage_output,
                        c.usage_total AS usage_total,
                        c.usage_cache_read AS usage_cache_read,
                        c.usage_cache_write AS usage_cache_write
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v5:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v6:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v8:String})))
                ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
            ) AS c
        )
    )
)
GROUP BY
    GROUPING SETS (
        (kept, k0, bucket),
        (kept, k0))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0

-- calls over time, of parts (calls.aggregate-rolled)
-- {"v2":"ent/proj","v0":3600,"v1":"score","v3":3600,"v4":7200,"v5":60,"v6":60,"v7":1000000,"v8":2000000,"v9":60000000,"v10":"op:"}
SELECT
    bucket,
    kept,
    sum(calls),
    sum(calls)
FROM
(
    SELECT
        *,
        1 AS kept
    FROM
    (
        SELECT
            start AS bucket,
            v0,
            entry.1 AS calls,
            entry.2 AS errors,
            length(entry.3) AS timed,
            arraySum(x -> toFloat64(x), entry.3) AS latency_sum,
            if(empty(entry.3), 0, (entry.3)[1]) AS latency_min,
            if(empty(entry.3), 0, (entry.3)[-1]) AS latency_max,
            countEqual(entry.3, 1) AS latency_ones,
            countEqual(entry.3, 0) AS latency_zeros,
            entry.3 AS latencies
        FROM
        (
            SELECT
                *,
                toString(toUnixTimestamp(c.started_at) - positiveModulo(toUnixTimestamp(c.started_at), {v0:Int64})) AS start,
                toNullable(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v1:String})), NULL)) AS v0
            FROM
            (
                SELECT
                    *,
                    bucket AS started_at
                FROM callhouse.call_stats
                FINAL
                WHERE (project_id = {v2:String}) AND (((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v0:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v5:UInt32}) AND (bucket >= toDateTime({v6:Int64}, 'UTC')) AND (bucket < toDateTime({v0:Int64}, 'UTC'))))
            ) AS c
        )
        ARRAY JOIN
            call_op AS op,
            call_user AS user,
            arrayZip(call_count, call_errors, call_latencies) AS entry
        UNION ALL
        SELECT
            bucket,
            v0,
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
                toString(toUnixTimestamp(c.started_at) - positiveModulo(toUnixTimestamp(c.started_at), {v0:Int64})) AS bucket,
                toNullable(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v1:String})), NULL)) AS v0,
                toUInt8(c.exception != '') AS failed,
                if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
            FROM
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver,
                    c.ended_at AS ended_at,
                    c.parent_id AS parent_id,
                    c.exception AS exception,
                    c.usage_model AS usage_model,
                    c.usage_input AS usage_input,
                    c.usage_output AS usage_output,
                    c.usage_total AS usage_total,
                    c.usage_cache_read AS usage_cache_read,
                    c.usage_cache_write AS usage_cache_write,
                    p.odd AS odd,
                    p.output AS output
                FROM
                (
                    SELECT
                        clock,
                        id,
                        odd,
                        output
                    FROM callhouse.payloads
                    WHERE (project_id = {v2:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC'))) OR (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v2:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')))))
                    ))))
                ) AS p
                ANY RIGHT JOIN
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
                        c.ended_at AS ended_at,
                        c.parent_id AS parent_id,
                        c.exception AS exception,
                        c.usage_model AS usage_model,
                        c.usage_input AS usage_input,
                        c.usage_output AS usage_output,
                        c.usage_total AS usage_total,
                        c.usage_cache_read AS usage_cache_read,
                        c.usage_cache_write AS usage_cache_write
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v2:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v10:String})))
                ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
            ) AS c
        )
    )
)
GROUP BY
    GROUPING SETS (
        (kept, bucket),
        (kept))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0

-- what costs are made of by model, of parts (calls.aggregate-costs-rolled)
-- {"v2":"ent/proj","v0":["a"],"v1":3600,"v3":3600,"v4":7200,"v5":60,"v6":60,"v7":1000000,"v8":2000000,"v9":60000000,"v10":"op:"}
SELECT
    bucket,
    kept,
    k0,
    sum(points),
    model,
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
    SELECT * REPLACE (if(kept, k0, '') AS k0)
    FROM
    (
        SELECT
            *,
            (k0) IN (
                SELECT (arrayJoin(arrayZip({v0:Array(String)}))).1
            ) AS kept
        FROM
        (
            SELECT
                *,
                model AS k0
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
                        toString(toUnixTimestamp(c.started_at) - positiveModulo(toUnixTimestamp(c.started_at), {v1:Int64})) AS start
                    FROM
                    (
                        SELECT
                            *,
                            bucket AS started_at
                        FROM callhouse.call_stats
                        FINAL
                        WHERE (project_id = {v2:String}) AND (((seconds = {v3:UInt32}) AND (bucket >= toDateTime({v1:Int64}, 'UTC')) AND (bucket < toDateTime({v4:Int64}, 'UTC'))) OR ((seconds = {v5:UInt32}) AND (bucket >= toDateTime({v6:Int64}, 'UTC')) AND (bucket < toDateTime({v1:Int64}, 'UTC'))))
                    ) AS c
                )
                ARRAY JOIN
                    usage_model AS model,
                    usage_points AS points,
                    usage_top AS top,
                    usage_input_sum AS input_sum,
                    usage_output_sum AS output_sum,
                    usage_inside_sum AS inside_sum,
                    usage_apart_sum AS apart_sum,
                    usage_billed_read_sum AS billed_read_sum,
                    usage_billed_write_sum AS billed_write_sum,
                    usage_billed_write_1h_sum AS billed_write_1h_sum,
                    usage_more_output_sum AS more_output_sum
                WHERE top = 1
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
                                    toString(toUnixTimestamp(c.started_at) - positiveModulo(toUnixTimestamp(c.started_at), {v1:Int64})) AS bucket,
                                    c.started_at AS begun,
                                    c.end_ver AS end_ver,
                                    c.id AS id,
                                    arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported,
                                    (c.start_ver, c.id) IN (
                                        SELECT
                                            clock,
                                            id
                                        FROM callhouse.payloads
                                        WHERE (project_id = {v2:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (part = 'start') AND (counts_cached = 1))
                                    ) AS has_cached
                                FROM callhouse.calls AS c
                                FINAL
                                WHERE (c.project_id = {v2:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v10:String})) AND notEmpty(c.usage_model) AND (((c.parent_id = '') OR ((c.started_at, c.id) IN (
                                    SELECT
                                        started_at,
                                        id
                                    FROM callhouse.orphan_roots
                                    FINAL
                                    WHERE (project_id = {v2:String}) AND (is_orphan = 1)
                                ))) OR ((c.start_ver, c.id) IN (
                                    SELECT
                                        clock,
                                        id
                                    FROM callhouse.payloads
                                    WHERE (project_id = {v2:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (otel_dump != ''))
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
                                WHERE (project_id = {v2:String}) AND ((started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (nested = 1))
                            ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
                            ANY LEFT JOIN
                            (
                                SELECT
                                    clock,
                                    id,
                                    billed_usage,
                                    counts_cached
                                FROM callhouse.payloads
                                WHERE (project_id = {v2:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC')))) OR (at IN (
                                    SELECT c.output_at
                                    FROM callhouse.calls AS c
                                    FINAL
                                    WHERE (c.project_id = {v2:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((c.started_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v8:Int64}, 'UTC')) AND ((c.output_at >= fromUnixTimestamp64Micro({v7:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v9:Int64}, 'UTC'))))))
                                ))) AND notEmpty(billed_usage))
                            ) AS b ON (b.clock = c.end_ver) AND (b.id = c.id)
                        )
                    )
                    ARRAY JOIN
                        points AS point,
                        bills AS bill
                )
            )
        )
    )
)
GROUP BY
    GROUPING SETS (
        (kept, k0, bucket, model),
        (kept, k0, model))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0

-- the greatest groups (calls.aggregate)
-- {"v3":"ent/proj","v0":0.5,"v1":1,"v2":"score","v4":1000000,"v5":2000000,"v6":"op:","v7":9}
SELECT
    '' AS bucket,
    1 AS kept,
    k0,
    count() AS points,
    ifNull(sum(toNullable(1)), 0),
    if(count(v0) = 0, NULL, (quantilesExactInclusive({v0:Float64})(v0) AS percentiles_of_v0)[{v1:UInt32}])
FROM
(
    SELECT
        *,
        1 AS kept
    FROM
    (
        SELECT
            '' AS bucket,
            arrayJoin(if(empty(c.usage_model), [''], arrayMap(model -> toString(model), c.usage_model))) AS k0,
            toNullable(ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v2:String})), NULL)) AS v0,
            toUInt8(c.exception != '') AS failed,
            if((c.end_ver > 0) AND (c.ended_at >= c.started_at), toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
        FROM
        (
            SELECT
                c.started_at AS started_at,
                c.id AS id,
                c.start_ver AS start_ver,
                c.end_ver AS end_ver,
                c.ended_at AS ended_at,
                c.parent_id AS parent_id,
                c.exception AS exception,
                c.usage_model AS usage_model,
                c.usage_input AS usage_input,
                c.usage_output AS usage_output,
                c.usage_total AS usage_total,
                c.usage_cache_read AS usage_cache_read,
                c.usage_cache_write AS usage_cache_write,
                p.odd AS odd,
                p.output AS output
            FROM
            (
                SELECT
                    clock,
                    id,
                    odd,
                    output
                FROM callhouse.payloads
                WHERE (project_id = {v3:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC'))) OR (at IN (
                    SELECT c.output_at
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')))))
                ))))
            ) AS p
            ANY RIGHT JOIN
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver,
                    c.ended_at AS ended_at,
                    c.parent_id AS parent_id,
                    c.exception AS exception,
                    c.usage_model AS usage_model,
                    c.usage_input AS usage_input,
                    c.usage_output AS usage_output,
                    c.usage_total AS usage_total,
                    c.usage_cache_read AS usage_cache_read,
                    c.usage_cache_write AS usage_cache_write
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v6:String})))
            ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
        ) AS c
    )
)
GROUP BY k0
HAVING count() > 0
ORDER BY ifNull(sum(toNullable(1)), 0) DESC
LIMIT {v7:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- usage by model and status (calls.aggregate-usage)
-- {"v3":"ent/proj","v0":["a"],"v1":["b"],"v2":"Europe/Paris","v4":1000000,"v5":2000000,"v6":"op:"}
SELECT
    bucket,
    kept,
    k0,
    k1,
    count() AS points,
    maxOrNull(toNullable(toFloat64(point.2)))
FROM
(
    SELECT * REPLACE (if(kept, k0, '') AS k0, if(kept, k1, '') AS k1)
    FROM
    (
        SELECT
            *,
            (k0, k1) IN (
                SELECT arrayJoin(arrayZip({v0:Array(String)}, {v1:Array(String)}))
            ) AS kept
        FROM
        (
            SELECT
                *,
                model AS k0
            FROM
            (
                SELECT
                    *,
                    toString(point.1) AS model
                FROM
                (
                    SELECT
                        bucket,
                        k1,
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
                                c.k1 AS k1,
                                c.end_ver AS end_ver,
                                c.id AS id,
                                s.nested AS nested,
                                if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points
                            FROM
                            (
                                SELECT
                                    toString(toDate32(c.started_at, {v2:String})) AS bucket,
                                    ifNull(toString(multiIf(c.exception != '', 'error', c.end_ver = 0, 'running', c.error_count > 0, 'descendant_error', 'success')), '') AS k1,
                                    c.started_at AS begun,
                                    c.end_ver AS end_ver,
                                    c.id AS id,
                                    arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported
                                FROM callhouse.calls AS c
                                FINAL
                                WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v6:String})) AND notEmpty(c.usage_model) AND (((c.parent_id = '') OR ((c.started_at, c.id) IN (
                                    SELECT
                                        started_at,
                                        id
                                    FROM callhouse.orphan_roots
                                    FINAL
                                    WHERE (project_id = {v3:String}) AND (is_orphan = 1)
                                ))) OR ((c.start_ver, c.id) IN (
                                    SELECT
                                        clock,
                                        id
                                    FROM callhouse.payloads
                                    WHERE (project_id = {v3:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (otel_dump != ''))
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
                                WHERE (project_id = {v3:String}) AND ((started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (nested = 1))
                            ) AS s ON (s.started_at = c.begun) AND (s.id = c.id)
                        )
                    )
                )
            )
        )
    )
)
GROUP BY
    GROUPING SETS (
        (kept, k0, k1, bucket),
        (kept, k0, k1))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0

-- what costs are made of by user (calls.aggregate-costs)
-- {"v1":"ent/proj","v0":300,"v2":1000000,"v3":2000000,"v4":"op:","v5":["a"]}
SELECT
    bucket,
    1 AS kept,
    k0,
    count() AS points,
    model,
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
        *,
        1 AS kept
    FROM
    (
        SELECT *
        FROM
        (
            SELECT
                *,
                toString(point.1) AS model
            FROM
            (
                SELECT
                    bucket,
                    k0,
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
                            c.k0 AS k0,
                            c.end_ver AS end_ver,
                            c.id AS id,
                            s.nested AS nested,
                            if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [], arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported) AS points,
                            c.has_cached OR (b.counts_cached = 1) AS counts_cached,
                            arrayMap(point -> if(s.nested = 1, CAST(tupleConcat(tuple(toString(point.1)), s.bill), 'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)'), arrayFirst(bill -> (bill.model = (point.1)), b.billed_usage)), points) AS bills
                        FROM
                        (
                            SELECT
                                toString(toUnixTimestamp(c.started_at) - positiveModulo(toUnixTimestamp(c.started_at), {v0:Int64})) AS bucket,
                                ifNull(toString(nullIf(c.user_id, '')), '') AS k0,
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
                            WHERE (c.project_id = {v1:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (startsWith(c.op_name, {v4:String})) AND notEmpty(c.usage_model) AND (((c.parent_id = '') OR ((c.started_at, c.id) IN (
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
        )
    )
    WHERE (k0) IN (
        SELECT (arrayJoin(arrayZip({v5:Array(String)}))).1
    )
)
GROUP BY
    GROUPING SETS (
        (k0, bucket, model),
        (k0, model))
HAVING count() > 0
SETTINGS output_format_json_quote_64bit_integers = 0
