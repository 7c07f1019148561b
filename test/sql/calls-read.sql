-- newest roots (calls.page)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":50}
SELECT
    c.id,
    toUnixTimestamp64Micro(c.started_at),
    c.end_ver > 0,
    toUnixTimestamp64Micro(c.output_at),
    c.trace_id,
    c.op_name,
    c.display_name,
    toUnixTimestamp64Micro(c.ended_at),
    c.exception,
    c.error_count,
    c.start_bytes + c.end_bytes,
    c.parent_id,
    '',
    '',
    '',
    '',
    '',
    ''
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
ORDER BY
    c.started_at DESC,
    c.id DESC
LIMIT {v3:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- the page after a key (calls.page)
-- {"v0":"ent/proj","v1":1000000,"v2":1500001,"v3":1500000,"v4":"last","v5":50,"v6":3}
SELECT
    c.id,
    toUnixTimestamp64Micro(c.started_at),
    c.end_ver > 0,
    toUnixTimestamp64Micro(c.output_at),
    c.trace_id,
    c.op_name,
    c.display_name,
    toUnixTimestamp64Micro(c.ended_at),
    c.exception,
    c.error_count,
    c.start_bytes + c.end_bytes,
    c.parent_id,
    '',
    '',
    '',
    '',
    '',
    ''
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
    SELECT
        started_at,
        id
    FROM callhouse.orphan_roots
    FINAL
    WHERE (project_id = {v0:String}) AND (is_orphan = 1)
))) AND ((c.started_at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) OR ((c.started_at = fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (c.id < {v4:String}))))
ORDER BY
    c.started_at DESC,
    c.id DESC
LIMIT {v6:UInt64}, {v5:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- a trace (calls.page)
-- {"v0":"ent/proj","v1":"trace_id","v2":["t"],"v3":50}
SELECT
    c.id,
    toUnixTimestamp64Micro(c.started_at),
    c.end_ver > 0,
    toUnixTimestamp64Micro(c.output_at),
    c.trace_id,
    c.op_name,
    c.display_name,
    toUnixTimestamp64Micro(c.ended_at),
    c.exception,
    c.error_count,
    c.start_bytes + c.end_bytes,
    c.parent_id,
    '',
    '',
    '',
    '',
    '',
    ''
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
    SELECT started_at
    FROM callhouse.call_keys
    WHERE (project_id = {v0:String}) AND ((kind = {v1:String}) AND (key IN ({v2:Array(String)})))
)) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.trace_id IN ({v2:Array(String)})))
ORDER BY
    c.started_at DESC,
    c.id DESC
LIMIT {v3:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- an input of an operation (calls.page)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":["op"],"v4":"a","v5":"x","v6":50}
SELECT
    c.id,
    toUnixTimestamp64Micro(c.started_at),
    c.end_ver > 0,
    toUnixTimestamp64Micro(c.output_at),
    c.trace_id,
    c.op_name,
    c.display_name,
    toUnixTimestamp64Micro(c.ended_at),
    c.exception,
    c.error_count,
    c.start_bytes + c.end_bytes,
    c.parent_id,
    '',
    '',
    '',
    '',
    '',
    ''
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.op_name IN ({v3:Array(String)})) AND ((c.start_ver, concat(c.id, '')) IN (
    SELECT
        clock,
        id
    FROM callhouse.payloads
    WHERE (project_id = {v0:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (JSONExtractString(inputs, {v4:String}) = {v5:String}))
)))
ORDER BY
    c.started_at DESC,
    c.id DESC
LIMIT {v6:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- an output that running calls match too (calls.count)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":""}
SELECT toString(count())
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.end_ver = 0) OR ((c.end_ver, concat(c.id, '')) IN (
    SELECT
        clock,
        id
    FROM callhouse.payloads
    WHERE (project_id = {v0:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC'))) OR (at IN (
        SELECT c.output_at
        FROM callhouse.calls AS c
        FINAL
        WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))))
    ))) AND (JSONExtractString(output) = {v3:String}))
))))

-- an input or an output (calls.count)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":"a","v4":"x","v5":"b","v6":"y","v7":10}
SELECT toString(count())
FROM
(
    SELECT 1
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.start_ver, c.end_ver, concat(c.id, '')) IN (
        SELECT
            c.start_ver,
            c.end_ver,
            c.id
        FROM
        (
            SELECT
                odd,
                started_at,
                id,
                start_ver,
                end_ver,
                inputs,
                output
            FROM
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver,
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
                    WHERE (project_id = {v0:String}) AND ((part = 'both') AND (part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
                ) AS p
                ANY RIGHT JOIN
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.start_ver = c.end_ver))
                ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
            )
            UNION ALL
            SELECT
                odd,
                started_at,
                id,
                start_ver,
                end_ver,
                inputs,
                output
            FROM
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver,
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
                    WHERE (project_id = {v0:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC'))) OR (at IN (
                        SELECT c.output_at
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))))
                    ))) AND (concat(id, '') IN (
                        SELECT c.id
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.start_ver != c.end_ver))
                    )))
                ) AS p
                ANY RIGHT JOIN
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver,
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
                        WHERE (project_id = {v0:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (concat(id, '') IN (
                            SELECT c.id
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.start_ver != c.end_ver))
                        )))
                    ) AS p
                    ANY RIGHT JOIN
                    (
                        SELECT
                            c.started_at AS started_at,
                            c.id AS id,
                            c.start_ver AS start_ver,
                            c.end_ver AS end_ver
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.start_ver != c.end_ver))
                    ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
                ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
            )
        ) AS c
        WHERE ((JSONExtractString(c.inputs, {v3:String}) = {v4:String}) OR (JSONExtractString(c.output, {v5:String}) = {v6:String}))
    )))
    LIMIT {v7:UInt64}
)

-- a column or an input, with non-native JSON (calls.count)
-- {"v0":"ent/proj","v1":[7],"v2":["id"],"v3":"x","v4":"b","v5":"y"}
SELECT toString(count())
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.delete_ver = 0) AND (c.moved = 0) AND ((c.start_ver, c.end_ver, concat(c.id, '')) IN (
    SELECT
        c.start_ver,
        c.end_ver,
        c.id
    FROM
    (
        SELECT
            c.started_at AS started_at,
            c.id AS id,
            c.start_ver AS start_ver,
            c.end_ver AS end_ver,
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
            WHERE (project_id = {v0:String}) AND (part IN ('both', 'start'))
        ) AS p
        ANY RIGHT JOIN
        (
            SELECT
                c.started_at AS started_at,
                c.id AS id,
                c.start_ver AS start_ver,
                c.end_ver AS end_ver,
                c.op_name AS op_name
            FROM callhouse.calls AS c
            FINAL
            WHERE (c.project_id = {v0:String}) AND ((c.delete_ver = 0) AND (c.moved = 0))
        ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
    ) AS c
    WHERE if(c.odd = 1, ((toUnixTimestamp64Micro(c.started_at), c.id) IN (
        SELECT arrayJoin(arrayZip({v1:Array(Int64)}, {v2:Array(String)}))
    )), ((c.op_name = {v3:String}) OR (JSONExtractString(c.inputs, {v4:String}) = {v5:String})))
)))

-- an input, with non-native JSON (calls.count)
-- {"v0":"ent/proj","v1":["op"],"v2":["5"],"v3":"a","v4":"x"}
SELECT toString(count())
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.delete_ver = 0) AND (c.moved = 0) AND (c.op_name IN ({v1:Array(String)})) AND ((c.start_ver, concat(c.id, '')) IN (
    SELECT
        clock,
        id
    FROM callhouse.payloads
    WHERE (project_id = {v0:String}) AND ((part IN ('both', 'start')) AND if(odd = 1, (clock IN ({v2:Array(UInt64)})), (JSONExtractString(inputs, {v3:String}) = {v4:String})))
)))

-- behind a ref, or in feedback (calls.count)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":"m","v4":["weave:///e/p/object/m:1"],"v5":["\"x\""],"v6":24,"v7":"x","v8":"weave:///ent/proj/call/","v9":["x"],"v10":"n","v11":5}
SELECT toString(count())
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.start_ver, c.end_ver, concat(c.id, '')) IN (
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
            c.inputs AS inputs,
            transform(JSONExtractString(c.inputs, {v3:String}), {v4:Array(String)}, {v5:Array(String)}, '') AS ref_0,
            f.feedback_0 AS feedback_0
        FROM
        (
            SELECT
                c.started_at AS started_at,
                c.id AS id,
                c.start_ver AS start_ver,
                c.end_ver AS end_ver,
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
                WHERE (project_id = {v0:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
            ) AS p
            ANY RIGHT JOIN
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0))
            ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
        ) AS c
        LEFT JOIN
        (
            SELECT
                substring(f.weave_ref, {v6:UInt32}) AS call_id,
                argMinIf(if(f.readable_payload = '', f.payload, f.readable_payload), (f.created_at, f.id), f.feedback_type = {v7:String}) AS feedback_0
            FROM callhouse.feedback AS f
            FINAL
            WHERE (f.project_id = {v0:String}) AND ((f.id IN (
                SELECT id
                FROM callhouse.feedback_by_ref
                WHERE (project_id = {v0:String}) AND (weave_ref IN (
                    SELECT concat({v8:String}, id)
                    FROM
                    (
                        SELECT id
                        FROM callhouse.calls
                        WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
                    )
                ))
            )) AND (f.purged = 0) AND startsWith(f.weave_ref, {v8:String}) AND (f.feedback_type IN ({v9:Array(String)})))
            GROUP BY call_id
        ) AS f ON f.call_id = c.id
    ) AS c
    WHERE ((if(c.ref_0 = '', NULL, JSONExtractString(c.ref_0)) = {v7:String}) OR (toInt64OrNull(JSONExtractString(c.feedback_0, {v10:String})) = {v11:Int64}))
)))

-- sorted by what is behind a ref (calls.sorted-keys)
-- {"v3":"ent/proj","v0":"m","v1":["weave:///e/p/object/m:1"],"v2":["\"x\""],"v4":24,"v5":"x","v6":["x"],"v7":"weave:///ent/proj/call/","v8":"n","v9":5,"v10":10}
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
        c.inputs AS inputs,
        transform(JSONExtractString(c.inputs, {v0:String}), {v1:Array(String)}, {v2:Array(String)}, '') AS ref_0
    FROM
    (
        SELECT
            c.started_at AS started_at,
            c.id AS id,
            c.start_ver AS start_ver,
            c.end_ver AS end_ver,
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
            WHERE (project_id = {v3:String}) AND (part IN ('both', 'start'))
        ) AS p
        ANY RIGHT JOIN
        (
            SELECT
                c.started_at AS started_at,
                c.id AS id,
                c.start_ver AS start_ver,
                c.end_ver AS end_ver
            FROM callhouse.calls AS c
            FINAL
            WHERE (c.project_id = {v3:String}) AND ((c.delete_ver = 0) AND (c.moved = 0) AND ((c.start_ver, c.end_ver, concat(c.id, '')) IN (
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
                        c.inputs AS inputs,
                        transform(JSONExtractString(c.inputs, {v0:String}), {v1:Array(String)}, {v2:Array(String)}, '') AS ref_0,
                        f.feedback_0 AS feedback_0
                    FROM
                    (
                        SELECT
                            c.started_at AS started_at,
                            c.id AS id,
                            c.start_ver AS start_ver,
                            c.end_ver AS end_ver,
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
                            WHERE (project_id = {v3:String}) AND (part IN ('both', 'start'))
                        ) AS p
                        ANY RIGHT JOIN
                        (
                            SELECT
                                c.started_at AS started_at,
                                c.id AS id,
                                c.start_ver AS start_ver,
                                c.end_ver AS end_ver
                            FROM callhouse.calls AS c
                            FINAL
                            WHERE (c.project_id = {v3:String}) AND ((c.delete_ver = 0) AND (c.moved = 0))
                        ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
                    ) AS c
                    LEFT JOIN
                    (
                        SELECT
                            substring(f.weave_ref, {v4:UInt32}) AS call_id,
                            argMinIf(if(f.readable_payload = '', f.payload, f.readable_payload), (f.created_at, f.id), f.feedback_type = {v5:String}) AS feedback_0
                        FROM callhouse.feedback AS f
                        FINAL
                        WHERE (f.project_id = {v3:String}) AND ((f.id IN (
                            SELECT id
                            FROM callhouse.feedback
                            WHERE (project_id = {v3:String}) AND (feedback_type IN ({v6:Array(String)}))
                        )) AND (f.purged = 0) AND startsWith(f.weave_ref, {v7:String}) AND (f.feedback_type IN ({v6:Array(String)})))
                        GROUP BY call_id
                    ) AS f ON f.call_id = c.id
                ) AS c
                WHERE ((if(c.ref_0 = '', NULL, JSONExtractString(c.ref_0)) = {v5:String}) OR (toInt64OrNull(JSONExtractString(c.feedback_0, {v8:String})) = {v9:Int64}))
            )))
        ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
    ) AS c
) AS c
ORDER BY
    JSONType(c.ref_0) != 'Null' DESC,
    ifNotFinite(toFloat64OrNull(if(c.ref_0 = '', NULL, JSONExtractString(c.ref_0))), NULL) DESC NULLS LAST,
    if(c.ref_0 = '', NULL, JSONExtractString(c.ref_0)) DESC,
    c.id DESC
LIMIT {v10:UInt64}

-- refs of calls (calls.refs)
-- {"v3":"ent/proj","v0":0,"v1":"m","v2":1,"v4":1000000,"v5":2000000,"v6":50001}
SELECT DISTINCT
    found.1,
    found.2
FROM
(
    SELECT arrayJoin([({v0:UInt32}, JSONExtractString(c.inputs, {v1:String})), ({v2:UInt32}, JSONExtractString(c.output))]) AS found
    FROM
    (
        SELECT
            odd,
            started_at,
            id,
            start_ver,
            end_ver,
            inputs,
            output
        FROM
        (
            SELECT
                c.started_at AS started_at,
                c.id AS id,
                c.start_ver AS start_ver,
                c.end_ver AS end_ver,
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
                WHERE (project_id = {v3:String}) AND ((part = 'both') AND (part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')))
            ) AS p
            ANY RIGHT JOIN
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver
                FROM callhouse.calls AS c
                FINAL
                WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
                    SELECT
                        started_at,
                        id
                    FROM callhouse.orphan_roots
                    FINAL
                    WHERE (project_id = {v3:String}) AND (is_orphan = 1)
                ))) AND (c.start_ver = c.end_ver))
            ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
        )
        UNION ALL
        SELECT
            odd,
            started_at,
            id,
            start_ver,
            end_ver,
            inputs,
            output
        FROM
        (
            SELECT
                c.started_at AS started_at,
                c.id AS id,
                c.start_ver AS start_ver,
                c.end_ver AS end_ver,
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
                WHERE (project_id = {v3:String}) AND ((part IN ('both', 'end')) AND (((at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC'))) OR (at IN (
                    SELECT c.output_at
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (NOT ((c.output_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.output_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')))))
                ))) AND (concat(id, '') IN (
                    SELECT c.id
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
                        SELECT
                            started_at,
                            id
                        FROM callhouse.orphan_roots
                        FINAL
                        WHERE (project_id = {v3:String}) AND (is_orphan = 1)
                    ))) AND (c.start_ver != c.end_ver))
                )))
            ) AS p
            ANY RIGHT JOIN
            (
                SELECT
                    c.started_at AS started_at,
                    c.id AS id,
                    c.start_ver AS start_ver,
                    c.end_ver AS end_ver,
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
                    WHERE (project_id = {v3:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (concat(id, '') IN (
                        SELECT c.id
                        FROM callhouse.calls AS c
                        FINAL
                        WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
                            SELECT
                                started_at,
                                id
                            FROM callhouse.orphan_roots
                            FINAL
                            WHERE (project_id = {v3:String}) AND (is_orphan = 1)
                        ))) AND (c.start_ver != c.end_ver))
                    )))
                ) AS p
                ANY RIGHT JOIN
                (
                    SELECT
                        c.started_at AS started_at,
                        c.id AS id,
                        c.start_ver AS start_ver,
                        c.end_ver AS end_ver
                    FROM callhouse.calls AS c
                    FINAL
                    WHERE (c.project_id = {v3:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v4:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
                        SELECT
                            started_at,
                            id
                        FROM callhouse.orphan_roots
                        FINAL
                        WHERE (project_id = {v3:String}) AND (is_orphan = 1)
                    ))) AND (c.start_ver != c.end_ver))
                ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
            ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
        )
    ) AS c
    WHERE startsWith(found.2, 'weave:///')
)
LIMIT {v6:UInt64}

-- with feedback (calls.count)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":24,"v4":"note","v5":"wandb.note.1","v6":"weave:///ent/proj/call/","v7":["wandb.note.1"],"v8":"x","v9":"y"}
SELECT toString(count())
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.id IN (
    SELECT g.call_id
    FROM
    (
        SELECT
            substring(f.weave_ref, {v3:UInt32}) AS call_id,
            toJSONString(arrayMap(row -> (row.3), arraySort(groupArrayIf((f.created_at, f.id, JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v4:String})), (f.feedback_type = {v5:String}) AND (JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v4:String}) != ''))))) AS feedback_0
        FROM callhouse.feedback AS f
        FINAL
        WHERE (f.project_id = {v0:String}) AND ((f.id IN (
            SELECT id
            FROM callhouse.feedback_by_ref
            WHERE (project_id = {v0:String}) AND (weave_ref IN (
                SELECT concat({v6:String}, id)
                FROM
                (
                    SELECT id
                    FROM callhouse.calls
                    WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
                )
            ))
        )) AND (f.purged = 0) AND startsWith(f.weave_ref, {v6:String}) AND (f.feedback_type IN ({v7:Array(String)})))
        GROUP BY call_id
    ) AS g
    WHERE arrayExists(item -> ifNull(item = {v8:String}, false), JSONExtract(g.feedback_0, 'Array(String)'))
)) AND (c.id NOT IN (
    SELECT g.call_id
    FROM
    (
        SELECT
            substring(f.weave_ref, {v3:UInt32}) AS call_id,
            argMinIf(toJSONString(JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload))), (f.created_at, f.id), 1 AND (JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload)) != '')) AS feedback_1
        FROM callhouse.feedback AS f
        FINAL
        WHERE (f.project_id = {v0:String}) AND ((f.id IN (
            SELECT id
            FROM callhouse.feedback_by_ref
            WHERE (project_id = {v0:String}) AND (weave_ref IN (
                SELECT concat({v6:String}, id)
                FROM
                (
                    SELECT id
                    FROM callhouse.calls
                    WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
                )
            ))
        )) AND (f.purged = 0) AND startsWith(f.weave_ref, {v6:String}) AND 1)
        GROUP BY call_id
    ) AS g
    WHERE NOT ifNull(NOT (JSONExtractString(g.feedback_1) = {v9:String}), false)
)))

-- calls with feedback (calls.pre-filtered-ids)
-- {"v3":"ent/proj","v0":24,"v1":"note","v2":"wandb.note.1","v4":["wandb.note.1"],"v5":"weave:///ent/proj/call/","v6":"x","v7":10001}
SELECT g.call_id
FROM
(
    SELECT
        substring(f.weave_ref, {v0:UInt32}) AS call_id,
        toJSONString(arrayMap(row -> (row.3), arraySort(groupArrayIf((f.created_at, f.id, JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v1:String})), (f.feedback_type = {v2:String}) AND (JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v1:String}) != ''))))) AS feedback_0
    FROM callhouse.feedback AS f
    FINAL
    WHERE (f.project_id = {v3:String}) AND ((f.id IN (
        SELECT id
        FROM callhouse.feedback
        WHERE (project_id = {v3:String}) AND (feedback_type IN ({v4:Array(String)}))
    )) AND (f.purged = 0) AND startsWith(f.weave_ref, {v5:String}) AND (f.feedback_type IN ({v4:Array(String)})))
    GROUP BY call_id
) AS g
WHERE (arrayExists(item -> ifNull(item = {v6:String}, false), JSONExtract(g.feedback_0, 'Array(String)')))
LIMIT {v7:UInt64}

-- rows of such feedback (calls.feedback-rows)
-- {"v0":"ent/proj"}
SELECT count() AS rows
FROM callhouse.feedback
WHERE (project_id = {v0:String}) AND (1)

-- in a queue, one of the calls (calls.count)
-- {"v0":"ent/proj","v1":["1"],"v2":["a"],"v3":"q"}
SELECT toString(count())
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
    SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v1:Array(String)})), 'UTC')
)) AND (c.id IN ({v2:Array(String)})) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.id IN (
    SELECT g.call_id
    FROM
    (
        SELECT
            call_id,
            toJSONString(arraySort(groupUniqArray(queue_id))) AS queues
        FROM callhouse.annotation_queue_items
        WHERE (project_id = {v0:String}) AND ((queue_id IN (
            SELECT queue_id
            FROM callhouse.annotation_queues
            WHERE (project_id = {v0:String}) AND (part IN ('created', 'deleted'))
            GROUP BY queue_id
            HAVING (countIf(part = 'created') > 0) AND (countIf(part = 'deleted') = 0)
        )) AND (call_id IN (
            SELECT id
            FROM
            (
                SELECT arrayJoin({v2:Array(String)}) AS id
            )
        )))
        GROUP BY call_id
    ) AS g
    WHERE arrayExists(item -> ifNull(item = {v3:String}, false), JSONExtract(g.queues, 'Array(String)'))
)))

-- parts with non-native JSON (calls.non-native-fragments)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000}
SELECT
    toString(clock) AS clock,
    inputs
FROM callhouse.payloads
WHERE (project_id = {v0:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (odd = 1))

-- calls with non-native JSON (calls.non-native-calls)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000}
SELECT
    toUnixTimestamp64Micro(c.started_at) AS started_at_us,
    c.id,
    c.op_name,
    c.inputs
FROM
(
    SELECT
        c.started_at AS started_at,
        c.id AS id,
        c.start_ver AS start_ver,
        c.end_ver AS end_ver,
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
        WHERE (project_id = {v0:String}) AND ((part IN ('both', 'start')) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
    ) AS p
    ANY RIGHT JOIN
    (
        SELECT
            c.started_at AS started_at,
            c.id AS id,
            c.start_ver AS start_ver,
            c.end_ver AS end_ver,
            c.op_name AS op_name
        FROM callhouse.calls AS c
        FINAL
        WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0))
    ) AS c ON (p.clock = c.start_ver) AND (cityHash64(p.id) = cityHash64(c.id))
) AS c
WHERE c.odd = 1

-- any non-native JSON (calls.any-non-native)
-- {"v0":"ent/proj","v1":1000000}
SELECT 1
FROM callhouse.payloads
WHERE (project_id = {v0:String}) AND ((odd = 1) AND (at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')))
LIMIT 1
SETTINGS max_threads = 1

-- few keys by columns (calls.header-keys)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":["op"],"v4":1001}
SELECT
    toUnixTimestamp64Micro(c.started_at),
    c.id
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.op_name IN ({v3:Array(String)})))
LIMIT {v4:UInt64}

-- sorted by an output, within a bound (calls.field-index-order)
-- {"v3":"ent/proj","v0":"score","v1":0.5,"v2":"a"}
SELECT
    toUnixTimestamp64Micro(c.started_at),
    c.id,
    toUInt8(ifNull((JSONType(c.output, {v0:String}) != 'Null') AND ((ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v0:String})), NULL) > {v1:Float64}) OR ((ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v0:String})), NULL) = {v1:Float64}) AND (c.id >= {v2:String}))), 0))
FROM
(
    SELECT
        c.started_at AS started_at,
        c.id AS id,
        c.start_ver AS start_ver,
        c.end_ver AS end_ver,
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
        WHERE (project_id = {v3:String}) AND (part IN ('both', 'end'))
    ) AS p
    ANY RIGHT JOIN
    (
        SELECT
            c.started_at AS started_at,
            c.id AS id,
            c.start_ver AS start_ver,
            c.end_ver AS end_ver
        FROM callhouse.calls AS c
        FINAL
        WHERE (c.project_id = {v3:String}) AND ((c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
            SELECT
                started_at,
                id
            FROM callhouse.orphan_roots
            FINAL
            WHERE (project_id = {v3:String}) AND (is_orphan = 1)
        ))))
    ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
) AS c
ORDER BY
    JSONType(c.output, {v0:String}) != 'Null' DESC,
    ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v0:String})), NULL) DESC NULLS LAST,
    JSONExtractString(c.output, {v0:String}) DESC,
    c.id DESC

-- sorted by an output (calls.sorted-keys)
-- {"v0":"ent/proj","v1":"score"}
SELECT
    toUnixTimestamp64Micro(c.started_at),
    c.id
FROM
(
    SELECT
        c.started_at AS started_at,
        c.id AS id,
        c.start_ver AS start_ver,
        c.end_ver AS end_ver,
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
        WHERE (project_id = {v0:String}) AND (part IN ('both', 'end'))
    ) AS p
    ANY RIGHT JOIN
    (
        SELECT
            c.started_at AS started_at,
            c.id AS id,
            c.start_ver AS start_ver,
            c.end_ver AS end_ver
        FROM callhouse.calls AS c
        FINAL
        WHERE (c.project_id = {v0:String}) AND ((c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
            SELECT
                started_at,
                id
            FROM callhouse.orphan_roots
            FINAL
            WHERE (project_id = {v0:String}) AND (is_orphan = 1)
        ))))
    ) AS c ON (p.clock = c.end_ver) AND (cityHash64(p.id) = cityHash64(c.id))
) AS c
ORDER BY
    JSONType(c.output, {v1:String}) != 'Null' DESC,
    ifNotFinite(toFloat64OrNull(JSONExtractString(c.output, {v1:String})), NULL) DESC NULLS LAST,
    JSONExtractString(c.output, {v1:String}) DESC,
    c.id DESC

-- rows by key (calls.rows)
-- {"v0":"ent/proj","v1":1,"v2":2,"v3":["1"],"v4":["a"]}
SELECT
    c.id,
    toUnixTimestamp64Micro(c.started_at),
    c.end_ver > 0,
    toUnixTimestamp64Micro(c.output_at),
    c.trace_id,
    c.op_name,
    c.display_name,
    toUnixTimestamp64Micro(c.ended_at),
    c.exception,
    c.error_count,
    c.start_bytes + c.end_bytes,
    c.parent_id,
    '',
    '',
    '',
    '',
    '',
    ''
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (c.started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.started_at IN (
    SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v3:Array(String)})), 'UTC')
)) AND (c.id IN ({v4:Array(String)})) AND (c.delete_ver = 0) AND (c.moved = 0))
SETTINGS output_format_json_quote_64bit_integers = 0

-- payloads, scattered (calls.payloads)
-- {"v0":"ent/proj","v1":["1","2"],"v2":["a"]}
SELECT
    toUnixTimestamp64Micro(at),
    id,
    part,
    clock,
    inputs,
    output
FROM callhouse.payloads
WHERE (project_id = {v0:String}) AND ((at IN (
    SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v1:Array(String)})), 'UTC')
)) AND (id IN ({v2:Array(String)})))

-- payloads, dense (calls.payloads)
-- {"v0":"ent/proj","v1":1,"v2":2,"v3":["a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a"]}
SELECT
    toUnixTimestamp64Micro(at),
    id,
    part,
    clock,
    inputs
FROM callhouse.payloads
WHERE (project_id = {v0:String}) AND ((at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (id IN ({v3:Array(String)})) AND (part != 'end'))

-- payloads at the start of a call (calls.payloads)
-- {"v0":"ent/proj","v1":"id","v2":["a"]}
SELECT
    toUnixTimestamp64Micro(at),
    id,
    part,
    clock,
    inputs,
    output
FROM callhouse.payloads
WHERE (project_id = {v0:String}) AND ((at IN (
    SELECT started_at
    FROM callhouse.call_keys
    WHERE (project_id = {v0:String}) AND ((kind = {v1:String}) AND (key IN ({v2:Array(String)})))
)) AND (id IN ({v2:Array(String)})))

-- trace sizes (calls.trace-sizes)
-- {"v0":"ent/proj","v1":"trace_id","v2":["t"]}
SELECT
    trace_id,
    toString(bytes)
FROM
(
    SELECT
        c.trace_id AS trace_id,
        sum(c.start_bytes + c.end_bytes) AS bytes
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
        SELECT started_at
        FROM callhouse.call_keys
        WHERE (project_id = {v0:String}) AND ((kind = {v1:String}) AND (key IN ({v2:Array(String)})))
    )) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.trace_id IN ({v2:Array(String)})))
    GROUP BY c.trace_id
)

-- kinds of the spans of a trace (trace-tree.kinds)
-- {"v0":"ent/proj","v1":"trace_id","v2":["t"]}
SELECT
    toUnixTimestamp64Micro(at),
    id,
    argMax(kind, clock) AS newest
FROM
(
    SELECT
        at,
        id,
        clock,
        if((attributes IN ('', '{}')), '', lowerUTF8(arrayFirst(one -> match(one, '^\\w[\\w .-]{0,63}$'), [found.operation_name, tupleElement(found, 'weave.span.kind'), found.weave.span.kind, found.weave.kind, tupleElement(found, 'openinference.span.kind'), found.openinference.span.kind, tupleElement(found, 'traceloop.span.kind'), found.traceloop.span.kind, tupleElement(found, 'gen_ai.operation.name'), found.gen_ai.operation.name, found.kind]))) AS kind,
        JSONExtract(attributes, 'Tuple(operation_name String, kind String,\n  weave Tuple(kind String, span Tuple(kind String)), openinference Tuple(span Tuple(kind String)),\n  traceloop Tuple(span Tuple(kind String)), gen_ai Tuple(operation Tuple(name String)),\n  `weave.span.kind` String, `openinference.span.kind` String, `traceloop.span.kind` String,\n  `gen_ai.operation.name` String)') AS found
    FROM callhouse.payloads
    WHERE (project_id = {v0:String}) AND ((at IN (
        SELECT started_at
        FROM callhouse.call_keys
        WHERE (project_id = {v0:String}) AND ((kind = {v1:String}) AND (key IN ({v2:Array(String)})))
    )) AND (part != 'end'))
)
GROUP BY
    at,
    id
HAVING newest != ''

-- feedback of the spans of a trace (trace-tree.feedback)
-- {"v1":"ent/proj","v0":"weave:///ent/proj/call/","v2":"trace_id","v3":["t"]}
SELECT
    substring(f.weave_ref, length({v0:String}) + 1),
    toInt64(count())
FROM callhouse.feedback AS f
FINAL
WHERE (f.project_id = {v1:String}) AND ((f.id IN (
    SELECT id
    FROM callhouse.feedback_by_ref
    WHERE (project_id = {v1:String}) AND (weave_ref IN (
        SELECT concat({v0:String}, id)
        FROM callhouse.calls
        WHERE (project_id = {v1:String}) AND ((started_at IN (
            SELECT started_at
            FROM callhouse.call_keys
            WHERE (project_id = {v1:String}) AND ((kind = {v2:String}) AND (key IN ({v3:Array(String)})))
        )) AND (trace_id IN ({v3:Array(String)})))
    ))
)) AND startsWith(f.weave_ref, {v0:String}) AND (f.purged = 0))
GROUP BY f.weave_ref

-- total size (calls.total-size)
-- {"v0":"ent/proj","v1":10}
SELECT toString(sum(roots.n * sizes.bytes))
FROM
(
    SELECT
        trace_id,
        count() AS n
    FROM
    (
        SELECT
            c.trace_id AS trace_id,
            c.parent_id AS parent_id
        FROM callhouse.calls AS c
        FINAL
        WHERE (c.project_id = {v0:String}) AND ((c.delete_ver = 0) AND (c.moved = 0) AND ((c.parent_id = '') OR ((c.started_at, c.id) IN (
            SELECT
                started_at,
                id
            FROM callhouse.orphan_roots
            FINAL
            WHERE (project_id = {v0:String}) AND (is_orphan = 1)
        ))))
        ORDER BY
            c.started_at ASC,
            c.id ASC
        LIMIT {v1:UInt64}
    )
    GROUP BY trace_id
) AS roots
INNER JOIN
(
    SELECT
        c.trace_id AS trace_id,
        sum(c.start_bytes + c.end_bytes) AS bytes
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v0:String}) AND ((c.delete_ver = 0) AND (c.moved = 0))
    GROUP BY c.trace_id
) AS sizes ON sizes.trace_id = roots.trace_id

-- groups of hours (calls.groups)
-- {"v0":"ent/proj","v1":50,"v2":2000}
SELECT
    toString(min(t)),
    toString(sum(n))
FROM
(
    SELECT
        t,
        n,
        sum(n) OVER (ORDER BY t DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - n AS before,
        sum(n) OVER () AS total
    FROM
    (
        SELECT
            toInt64(toUnixTimestamp(hour)) AS t,
            toInt64(roots) AS n
        FROM callhouse.call_counts_hourly
        FINAL
        WHERE (project_id = {v0:String}) AND (1)
    )
)
GROUP BY intDiv(before, greatest({v1:Int64}, intDiv(total, {v2:Int64}))) AS g
ORDER BY g ASC
SETTINGS max_threads = 1

-- groups of hours, some counted live (calls.groups)
-- {"v1":"ent/proj","v0":3600,"v2":[3600],"v3":[5],"v4":2000}
SELECT
    toString(max(t) + {v0:UInt32}),
    toString(sum(n))
FROM
(
    SELECT
        t,
        n,
        sum(n) OVER (ORDER BY t ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - n AS before,
        sum(n) OVER () AS total
    FROM
    (
        SELECT
            toInt64(toUnixTimestamp(hour)) AS t,
            toInt64(calls) AS n
        FROM callhouse.call_counts_hourly
        FINAL
        WHERE (project_id = {v1:String}) AND (1 AND (toUnixTimestamp(hour) NOT IN ({v2:Array(Int64)})))
        UNION ALL
        SELECT
            pair.1 AS t,
            pair.2 AS n
        FROM
        (
            SELECT arrayJoin(arrayZip({v2:Array(Int64)}, {v3:Array(Int64)})) AS pair
        )
    )
)
GROUP BY intDiv(before, greatest({v4:Int64}, intDiv(total, {v4:Int64}))) AS g
ORDER BY g ASC
SETTINGS max_threads = 1

-- groups of minutes (calls.groups)
-- {"v1":"ent/proj","v0":60,"v2":-59,"v3":2,"v4":50,"v5":2000}
SELECT
    toString(max(t) + {v0:UInt32}),
    toString(sum(n))
FROM
(
    SELECT
        t,
        n,
        sum(n) OVER (ORDER BY t ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - n AS before,
        sum(n) OVER () AS total
    FROM
    (
        SELECT
            toInt64(toUnixTimestamp(minute)) AS t,
            toInt64(calls) AS n
        FROM callhouse.call_counts
        FINAL
        WHERE (project_id = {v1:String}) AND (1 AND (minute > toDateTime({v2:Int64}, 'UTC')) AND (minute < toDateTime({v3:Int64}, 'UTC')))
    )
)
GROUP BY intDiv(before, greatest({v4:Int64}, intDiv(total, {v5:Int64}))) AS g
ORDER BY g ASC
SETTINGS max_threads = 1

-- where the newest roots end (calls.edge)
-- {"v0":"ent/proj","v1":50}
SELECT toString(toUnixTimestamp64Micro(started_at))
FROM
(
    SELECT started_at
    FROM callhouse.calls
    WHERE (project_id = {v0:String}) AND (parent_id = '')
    ORDER BY started_at DESC
    LIMIT {v1:UInt32}
)
ORDER BY started_at ASC
LIMIT 1
SETTINGS max_threads = 1

-- where the first calls of a window end (calls.edge)
-- {"v0":"ent/proj","v1":1000000,"v2":2000000,"v3":50}
SELECT toString(toUnixTimestamp64Micro(started_at))
FROM
(
    SELECT started_at
    FROM callhouse.calls
    WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
    ORDER BY started_at ASC
    LIMIT {v3:UInt32}
)
ORDER BY started_at DESC
LIMIT 1
SETTINGS max_threads = 1

-- minutes that lag (calls.dirty-minutes)
-- {"v0":"ent/proj","v1":["call_counts","call_counts/0"]}
SELECT
    toUnixTimestamp(minute),
    toString(if(min(seconds) = 0, 0, groupBitOr(seconds)))
FROM callhouse.call_marks
WHERE (project_id = {v0:String}) AND ((position > (
    SELECT if(max(partition) = 0, max(position), 0)
    FROM callhouse.rollups
    WHERE name IN ({v1:Array(String)})
)) AND (position > ((
    SELECT CAST((groupArray(partition), groupArray(p)), 'Map(UInt32, UInt64)')
    FROM
    (
        SELECT
            partition,
            max(position) AS p
        FROM callhouse.rollups
        WHERE name IN ({v1:Array(String)})
        GROUP BY partition
    )
)[partition])))
GROUP BY minute
SETTINGS max_threads = 1

-- hours counted live (calls.live-hours)
-- {"v0":"ent/proj","v1":3600,"v2":3720,"v3":"1152921504606846975","v4":[3600,3660],"v5":["1152921504606846975","5"],"v6":[3600]}
SELECT
    toUInt32(h),
    toString(sum(n)),
    toString(sum(r))
FROM
(
    SELECT
        toUnixTimestamp(toStartOfHour(started_at)) AS h,
        count() AS n,
        countIf(((c.parent_id = '') OR ((c.started_at, c.id) IN (
            SELECT
                started_at,
                id
            FROM callhouse.orphan_roots
            FINAL
            WHERE (project_id = {v0:String}) AND (is_orphan = 1)
        )))) AS r
    FROM callhouse.calls AS c
    FINAL
    WHERE (c.project_id = {v0:String}) AND ((started_at >= toDateTime64({v1:Int64}, 6, 'UTC')) AND (started_at < toDateTime64({v2:Int64}, 6, 'UTC')) AND (toDateTime(started_at, 'UTC') IN (
        SELECT minute + s
        FROM
        (
            SELECT
                a.minute AS minute,
                if(k.is_told = 1, a.mask, {v3:UInt64}) AS mask,
                arrayMap(s -> (NOT bitTest(mask, s)), range(60)) AS is_clean,
                k.n AS n,
                k.r AS r
            FROM
            (
                SELECT
                    one.1 AS minute,
                    one.2 AS mask
                FROM
                (
                    SELECT arrayJoin(arrayZip(arrayMap(s -> toDateTime(s, 'UTC'), {v4:Array(Int64)}), {v5:Array(UInt64)})) AS one
                )
            ) AS a
            LEFT JOIN
            (
                SELECT
                    minute,
                    1 AS is_told,
                    calls_by_second AS n,
                    roots_by_second AS r
                FROM callhouse.call_counts
                FINAL
                WHERE (project_id = {v0:String}) AND ((minute IN (
                    SELECT toDateTime(arrayJoin({v4:Array(Int64)}), 'UTC')
                )) AND (length(calls_by_second) = 60))
            ) AS k ON k.minute = a.minute
        )
        ARRAY JOIN arrayFilter(s -> bitTest(mask, s), range(60)) AS s
    )) AND (delete_ver = 0) AND (moved = 0))
    GROUP BY h
    UNION ALL
    SELECT
        toUnixTimestamp(toStartOfHour(minute)) AS h,
        arraySum((x, clean) -> (x * clean), n, is_clean),
        arraySum((x, clean) -> (x * clean), r, is_clean)
    FROM
    (
        SELECT
            a.minute AS minute,
            if(k.is_told = 1, a.mask, {v3:UInt64}) AS mask,
            arrayMap(s -> (NOT bitTest(mask, s)), range(60)) AS is_clean,
            k.n AS n,
            k.r AS r
        FROM
        (
            SELECT
                one.1 AS minute,
                one.2 AS mask
            FROM
            (
                SELECT arrayJoin(arrayZip(arrayMap(s -> toDateTime(s, 'UTC'), {v4:Array(Int64)}), {v5:Array(UInt64)})) AS one
            )
        ) AS a
        LEFT JOIN
        (
            SELECT
                minute,
                1 AS is_told,
                calls_by_second AS n,
                roots_by_second AS r
            FROM callhouse.call_counts
            FINAL
            WHERE (project_id = {v0:String}) AND ((minute IN (
                SELECT toDateTime(arrayJoin({v4:Array(Int64)}), 'UTC')
            )) AND (length(calls_by_second) = 60))
        ) AS k ON k.minute = a.minute
    )
    WHERE notEmpty(n)
    UNION ALL
    SELECT
        toUnixTimestamp(toStartOfHour(minute)) AS h,
        sum(calls) AS n,
        sum(roots) AS r
    FROM callhouse.call_counts
    FINAL
    WHERE (project_id = {v0:String}) AND ((toStartOfHour(minute) IN (
        SELECT toDateTime(arrayJoin({v6:Array(Int64)}), 'UTC')
    )) AND (minute NOT IN (
        SELECT toDateTime(arrayJoin({v4:Array(Int64)}), 'UTC')
    )))
    GROUP BY h
)
GROUP BY h

-- all other hours (calls.total)
-- {"v0":"ent/proj","v1":[3600]}
SELECT
    toString(sum(calls)),
    toString(sum(roots))
FROM callhouse.call_counts_hourly
FINAL
WHERE (project_id = {v0:String}) AND (toUnixTimestamp(hour) NOT IN ({v1:Array(Int64)}))
SETTINGS max_threads = 1

-- whether counters lag (calls.marks)
-- {"v3":"ent/proj","v0":["call_counts","call_counts/0"],"v1":[0],"v2":["7"],"v4":"7"}
SELECT (count() > 0) OR ((
        SELECT uniqExact(partition)
        FROM callhouse.rollups
        WHERE (name IN ({v0:Array(String)})) AND has({v1:Array(UInt64)}, partition) AND (position >= ({v2:Array(UInt64)}[indexOf({v1:Array(UInt64)}, partition)]))
    ) < length({v1:Array(UInt64)}))
FROM callhouse.call_marks
WHERE (project_id = {v3:String}) AND (position > {v4:UInt64})
SETTINGS max_threads = 1

-- whether counters of two partitions lag (calls.marks)
-- {"v3":"ent/proj","v0":["call_counts","call_counts/0"],"v1":[0,1],"v2":["7","3"]}
SELECT (count() > 0) OR ((
        SELECT uniqExact(partition)
        FROM callhouse.rollups
        WHERE (name IN ({v0:Array(String)})) AND has({v1:Array(UInt64)}, partition) AND (position >= ({v2:Array(UInt64)}[indexOf({v1:Array(UInt64)}, partition)]))
    ) < length({v1:Array(UInt64)}))
FROM callhouse.call_marks
WHERE (project_id = {v3:String}) AND (position > ({v2:Array(UInt64)}[indexOf({v1:Array(UInt64)}, partition)]))
SETTINGS max_threads = 1

-- threads (threads.list)
-- {"v0":"ent/proj","v1":1,"v2":2,"v3":["a"],"v4":5,"v5":1}
SELECT
    thread,
    toUInt32(count()) AS turn_count,
    min(started) AS start_us,
    maxIf(ended, ended != 0) AS last_us,
    argMin(id, started),
    argMaxIf(id, ended, ended != 0),
    quantileExactInclusiveIf(0.5)(greatest(0, ended - started), ended != 0) / 1000 AS p50,
    quantileExactInclusiveIf(0.99)(greatest(0, ended - started), ended != 0) / 1000 AS p99
FROM
(
    SELECT
        id,
        toUnixTimestamp64Micro(started_at) AS started,
        toUnixTimestamp64Micro(ended_at) AS ended,
        thread_id AS thread
    FROM callhouse.turns
    FINAL
    WHERE (project_id = {v0:String}) AND ((started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (thread_id IN ({v3:Array(String)})) AND (hidden = 0) AND ((started_at, id) NOT IN (
        SELECT
            started_at,
            id
        FROM callhouse.calls
        FINAL
        WHERE (project_id = {v0:String}) AND ((started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((started_at, id) IN (
            SELECT
                started_at,
                id
            FROM callhouse.turns
            WHERE (project_id = {v0:String}) AND ((thread_id IN ({v3:Array(String)})) AND (started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
        )) AND (turn_id = id) AND (parent_id != id) AND ((thread_id, parent_id) IN (
            SELECT
                thread_id,
                id
            FROM callhouse.turns
            FINAL
            WHERE (project_id = {v0:String}) AND ((thread_id IN ({v3:Array(String)})) AND (hidden = 0))
        )))
    )))
)
GROUP BY thread
HAVING countIf(ended != 0) > 0
ORDER BY
    p50 ASC NULLS LAST,
    thread ASC
LIMIT {v5:UInt64}, {v4:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- threads, a turn changed (threads.settled)
-- {"v0":"ent/proj","v1":1,"v2":2,"v3":["a"],"v4":5,"v5":1}
SELECT
    thread,
    toUInt32(count()) AS turn_count,
    min(started) AS start_us,
    maxIf(ended, ended != 0) AS last_us,
    argMin(id, started),
    argMaxIf(id, ended, ended != 0),
    quantileExactInclusiveIf(0.5)(greatest(0, ended - started), ended != 0) / 1000 AS p50,
    quantileExactInclusiveIf(0.99)(greatest(0, ended - started), ended != 0) / 1000 AS p99
FROM
(
    SELECT *
    FROM
    (
        SELECT
            id,
            started_at,
            toUnixTimestamp64Micro(started_at) AS started,
            argMax(toUnixTimestamp64Micro(ended_at), version) AS ended,
            argMax(thread_id, version) AS thread,
            argMax(hidden, version) AS gone
        FROM callhouse.turns
        WHERE (project_id = {v0:String}) AND ((started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (started_at IN (
            SELECT started_at
            FROM callhouse.turns
            WHERE (project_id = {v0:String}) AND ((thread_id IN ({v3:Array(String)})) AND (started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
        )))
        GROUP BY
            id,
            started_at
    )
    WHERE (gone = 0) AND (thread IN ({v3:Array(String)})) AND ((started_at, id) NOT IN (
        SELECT
            started_at,
            id
        FROM callhouse.calls
        FINAL
        WHERE (project_id = {v0:String}) AND ((started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND ((started_at, id) IN (
            SELECT
                started_at,
                id
            FROM callhouse.turns
            WHERE (project_id = {v0:String}) AND ((thread_id IN ({v3:Array(String)})) AND (started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
        )) AND (turn_id = id) AND (parent_id != id) AND ((thread_id, parent_id) IN (
            SELECT
                thread_id,
                id
            FROM callhouse.turns
            FINAL
            WHERE (project_id = {v0:String}) AND ((thread_id IN ({v3:Array(String)})) AND (hidden = 0))
        )))
    ))
)
GROUP BY thread
HAVING countIf(ended != 0) > 0
ORDER BY
    p50 ASC NULLS LAST,
    thread ASC
LIMIT {v5:UInt64}, {v4:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- the latest threads (threads.latest)
-- {"v0":"ent/proj","v1":1,"v2":2,"v3":["a"],"v4":9}
SELECT
    thread_id,
    toString(toUnixTimestamp64Micro(max(ended_at))) AS bound
FROM callhouse.turns
WHERE (project_id = {v0:String}) AND ((started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (thread_id IN ({v3:Array(String)})))
GROUP BY thread_id
ORDER BY max(ended_at) DESC
LIMIT {v4:UInt64}

-- whether a turn changed (threads.changed)
-- {"v0":"ent/proj","v1":1,"v2":2,"v3":["a"]}
SELECT uniqExact(sipHash64(id, started_at, thread_id)) != uniqExact(sipHash64(id, started_at))
FROM callhouse.turns
WHERE (project_id = {v0:String}) AND ((started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (started_at IN (
    SELECT started_at
    FROM callhouse.turns
    WHERE (project_id = {v0:String}) AND ((thread_id IN ({v3:Array(String)})) AND (started_at > fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
)))

-- calls to delete (calls.delete-requested)
-- {"v0":"ent/proj","v1":"id","v2":["a"]}
SELECT
    c.id,
    c.trace_id,
    toString(toUnixTimestamp64Micro(c.started_at)),
    toString(c.delete_ver)
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
    SELECT started_at
    FROM callhouse.call_keys
    WHERE (project_id = {v0:String}) AND ((kind = {v1:String}) AND (key IN ({v2:Array(String)})))
)) AND (c.id IN ({v2:Array(String)})) AND (c.moved = 0))

-- those of them with calls below (calls.delete-parents)
-- {"v0":"ent/proj","v1":["a"]}
SELECT DISTINCT key
FROM callhouse.call_keys
WHERE (project_id = {v0:String}) AND ((kind = 'parent_id') AND (key IN ({v1:Array(String)})))

-- where a batch of their traces ends (calls.delete-boundary)
-- {"v0":"ent/proj","v1":["t","u"],"v2":1000000,"v3":"t","v4":2000000,"v5":4999}
SELECT
    key,
    toString(toUnixTimestamp64Micro(started_at))
FROM callhouse.call_keys
WHERE (project_id = {v0:String}) AND ((kind = 'trace_id') AND (key IN ({v1:Array(String)})) AND (started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (key >= {v3:String}) AND ((key > {v3:String}) OR (started_at > fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))))
ORDER BY
    key ASC,
    started_at ASC
LIMIT {v5:UInt64}, 1

-- a batch of their traces (calls.delete-batch)
-- {"v0":"ent/proj","v1":["t","u"],"v2":1000000,"v3":"t","v4":2000000,"v5":"u","v6":3000000}
SELECT
    c.id,
    c.parent_id,
    toString(c.delete_ver)
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
    SELECT started_at
    FROM callhouse.call_keys
    WHERE (project_id = {v0:String}) AND ((kind = 'trace_id') AND (key IN ({v1:Array(String)})) AND (started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (key >= {v3:String}) AND ((key > {v3:String}) OR (started_at > fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) AND (key <= {v5:String}) AND ((key < {v5:String}) OR (started_at <= fromUnixTimestamp64Micro({v6:Int64}, 'UTC'))))
)) AND (c.trace_id IN ({v1:Array(String)})) AND (c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.trace_id >= {v3:String}) AND ((c.trace_id > {v3:String}) OR (c.started_at > fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) AND (c.trace_id <= {v5:String}) AND ((c.trace_id < {v5:String}) OR (c.started_at <= fromUnixTimestamp64Micro({v6:Int64}, 'UTC'))) AND (c.moved = 0))

-- the last batch of their traces (calls.delete-batch)
-- {"v0":"ent/proj","v1":["t","u"],"v2":1000000}
SELECT
    c.id,
    c.parent_id,
    toString(c.delete_ver)
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
    SELECT started_at
    FROM callhouse.call_keys
    WHERE (project_id = {v0:String}) AND ((kind = 'trace_id') AND (key IN ({v1:Array(String)})) AND (started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))
)) AND (c.trace_id IN ({v1:Array(String)})) AND (c.started_at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (c.moved = 0))

-- those deleted meanwhile (calls.delete-since)
-- {"v0":"ent/proj","v1":["a"],"v2":"7"}
SELECT DISTINCT id
FROM callhouse.calls_deleted
WHERE (project_id = {v0:String}) AND ((id IN ({v1:Array(String)})) AND (delete_ver >= {v2:UInt64}))
