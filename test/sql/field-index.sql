-- one condition (calls.field-index-candidates)
-- {"v0":"e/p","v1":"inputs.a\\.b.c","v2":"inputs.a\\.b.c.","v3":["inputs","inputs.a\\.b"],"v4":-3599000000,"v5":1000000,"v6":9000000,"v7":"x","v8":["x"],"v9":100}
SELECT us
FROM
(
    SELECT arrayJoin(ats) AS us
    FROM
    (
        SELECT
            0 AS part_of,
            chunk,
            at AS ats
        FROM callhouse.payload_leaves
        WHERE (project_id = {v0:String}) AND ((((path = {v1:String}) AND (kind IN ('long', 'hollow', 'opaque'))) OR (startsWith(path, {v2:String})) OR ((path IN ({v3:Array(String)})) AND (kind = 'opaque'))) AND (part IN ('both', 'start')) AND (least > {v4:Int64}) AND (most >= {v5:Int64}) AND (least < {v6:Int64}))
        UNION ALL
        SELECT
            0 AS part_of,
            chunk,
            arrayFilter((us, s) -> ifNull((s = {v7:String}), false), at, str) AS ats
        FROM callhouse.payload_leaves
        WHERE (project_id = {v0:String}) AND ((path = {v1:String}) AND (kind IN ('text', 'numeral')) AND hasAny(str, {v8:Array(String)}) AND (part IN ('both', 'start')) AND (least > {v4:Int64}) AND (most >= {v5:Int64}) AND (least < {v6:Int64}))
    )
)
WHERE (us >= {v5:Int64}) AND (us < {v6:Int64})
ORDER BY us DESC
LIMIT {v9:UInt64}
 WITH TIES

-- two conditions on ends (calls.field-index-candidates)
-- {"v2":"e/p","v0":0,"v1":1,"v3":"output.label","v4":"output.label.","v5":["output"],"v6":"bad","v7":["bad"],"v8":"output.score","v9":"output.score.","v10":0.5,"v11":100}
SELECT us
FROM
(
    SELECT arrayJoin(arrayIntersect(groupArrayArrayIf(ats, part_of = {v0:UInt8}), groupArrayArrayIf(ats, part_of = {v1:UInt8}))) AS us
    FROM
    (
        SELECT
            {v0:UInt8} AS part_of,
            chunk,
            at AS ats
        FROM callhouse.payload_leaves
        WHERE (project_id = {v2:String}) AND ((((path = {v3:String}) AND (kind IN ('long', 'hollow', 'opaque'))) OR (startsWith(path, {v4:String})) OR ((path IN ({v5:Array(String)})) AND (kind = 'opaque'))) AND (part = 'both'))
        UNION ALL
        SELECT
            {v0:UInt8} AS part_of,
            chunk,
            arrayFilter((us, s) -> ifNull((s = {v6:String}), false), at, str) AS ats
        FROM callhouse.payload_leaves
        WHERE (project_id = {v2:String}) AND ((path = {v3:String}) AND (kind IN ('text', 'numeral')) AND hasAny(str, {v7:Array(String)}) AND (part = 'both'))
        UNION ALL
        SELECT
            {v1:UInt8} AS part_of,
            chunk,
            at AS ats
        FROM callhouse.payload_leaves
        WHERE (project_id = {v2:String}) AND ((((path = {v8:String}) AND (kind IN ('long', 'hollow', 'opaque'))) OR (startsWith(path, {v9:String})) OR ((path IN ({v5:Array(String)})) AND (kind = 'opaque'))) AND (part = 'both'))
        UNION ALL
        SELECT
            {v1:UInt8} AS part_of,
            chunk,
            arrayFilter((us, n) -> ifNull((n > {v10:Float64}), false), at, num) AS ats
        FROM callhouse.payload_leaves
        WHERE (project_id = {v2:String}) AND ((path = {v8:String}) AND (kind = 'number') AND (part = 'both'))
        UNION ALL
        SELECT
            {v1:UInt8} AS part_of,
            chunk,
            arrayFilter((us, s) -> ifNull((ifNotFinite(toFloat64OrNull(s), NULL) > {v10:Float64}), false), at, str) AS ats
        FROM callhouse.payload_leaves
        WHERE (project_id = {v2:String}) AND ((path = {v8:String}) AND (kind IN ('text', 'numeral')) AND (part = 'both'))
    )
    GROUP BY chunk
)
WHERE 1
ORDER BY us ASC
LIMIT {v11:UInt64}
 WITH TIES

-- ends that came alone (calls.field-index-ends)
-- {"v0":"e/p","v1":"id","v2":"output.n","v3":"output.n.","v4":["output"],"v5":[5],"v6":[60],"v7":60,"v8":9}
SELECT DISTINCT toUnixTimestamp64Micro(started_at)
FROM
(
    SELECT started_at
    FROM callhouse.call_keys
    WHERE (project_id = {v0:String}) AND ((kind = {v1:String}) AND (key IN (
        SELECT id
        FROM callhouse.payloads
        WHERE (project_id = {v0:String}) AND ((part = 'end') AND (at IN (
            SELECT fromUnixTimestamp64Micro(us, 'UTC')
            FROM
            (
                SELECT arrayJoin(ats) AS us
                FROM
                (
                    SELECT
                        0 AS part_of,
                        chunk,
                        at AS ats
                    FROM callhouse.payload_leaves
                    WHERE (project_id = {v0:String}) AND ((((path = {v2:String}) AND (kind IN ('long', 'hollow', 'opaque'))) OR (startsWith(path, {v3:String})) OR ((path IN ({v4:Array(String)})) AND (kind = 'opaque'))) AND (part = 'end'))
                    UNION ALL
                    SELECT
                        0 AS part_of,
                        chunk,
                        arrayFilter((us, n) -> ifNull((accurateCastOrNull(n, 'Int64') IN ({v5:Array(Int64)})), false), at, num) AS ats
                    FROM callhouse.payload_leaves
                    WHERE (project_id = {v0:String}) AND ((path = {v2:String}) AND (kind = 'number') AND (part = 'end'))
                    UNION ALL
                    SELECT
                        0 AS part_of,
                        chunk,
                        arrayFilter((us, s) -> ifNull((toInt64OrNull(s) IN ({v5:Array(Int64)})), false), at, str) AS ats
                    FROM callhouse.payload_leaves
                    WHERE (project_id = {v0:String}) AND ((path = {v2:String}) AND (kind IN ('text', 'numeral')) AND (part = 'end'))
                )
            )
        )))
        UNION ALL
        SELECT id
        FROM callhouse.payloads
        WHERE (project_id = {v0:String}) AND ((part = 'end') AND (toUnixTimestamp(toStartOfMinute(at)) IN ({v6:Array(Int64)})) AND (at >= toDateTime({v7:Int64}, 'UTC')))
    )))
)
LIMIT {v8:UInt64}

-- calls that are not indexed yet (calls.field-index-dirty-calls)
-- {"v0":"e/p","v1":60000000,"v2":61000000,"v3":62000000,"v4":63000000,"v5":120000000,"v6":180000000,"v7":9}
SELECT DISTINCT toUnixTimestamp64Micro(started_at)
FROM callhouse.calls
WHERE (project_id = {v0:String}) AND (((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC'))) OR ((started_at >= fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v4:Int64}, 'UTC'))) OR ((started_at >= fromUnixTimestamp64Micro({v5:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v6:Int64}, 'UTC'))))
LIMIT {v7:UInt64}

-- number of calls that are not indexed yet (calls.field-index-dirty-count)
-- {"v0":"e/p","v1":60,"v2":90}
SELECT toString(count())
FROM callhouse.calls
WHERE (project_id = {v0:String}) AND ((started_at >= fromUnixTimestamp64Micro({v1:Int64}, 'UTC')) AND (started_at < fromUnixTimestamp64Micro({v2:Int64}, 'UTC')))

-- minutes that it lags by (calls.field-index-dirty-minutes)
-- {"v0":"e/p","v1":9}
SELECT
    toUnixTimestamp(minute),
    toString(if(min(seconds) = 0, 0, groupBitOr(seconds)))
FROM callhouse.call_marks
WHERE (project_id = {v0:String}) AND (position > 7)
GROUP BY minute
LIMIT {v1:UInt64}
SETTINGS max_threads = 1

-- sample of values (calls.field-index-sample)
-- {"v0":"e/p","v1":"output.score","v2":-3599000000,"v3":1000000,"v4":9000000,"v5":64,"v6":5000,"v7":9}
SELECT
    toUInt32(count()),
    max(value),
    min(value)
FROM
(
    SELECT value
    FROM
    (
        SELECT arrayJoin(v) AS value
        FROM
        (
            SELECT
                at AS a,
                num AS v,
                part = 'end' AS is_end
            FROM callhouse.payload_leaves
            WHERE (project_id = {v0:String}) AND ((path = {v1:String}) AND (kind = 'number') AND (part = 'both') AND ((part = 'end') OR ((least > {v2:Int64}) AND (most >= {v3:Int64}) AND (least < {v4:Int64}))))
            LIMIT {v5:UInt64}
        )
        LIMIT {v6:UInt64}
    )
    ORDER BY value DESC
    LIMIT {v7:UInt64}
)
SETTINGS max_threads = 1

-- first values (calls.field-index-first)
-- {"v0":"e/p","v1":"output.score","v2":-3599000000,"v3":1000000,"v4":9000000,"v5":9}
SELECT
    pair.1 AS us,
    is_end,
    pair.2 AS value
FROM
(
    SELECT
        arrayJoin(arrayFilter((pair, x) -> 1, arrayZip(a, v), v)) AS pair,
        is_end
    FROM
    (
        SELECT
            at AS a,
            num AS v,
            part = 'end' AS is_end
        FROM callhouse.payload_leaves
        WHERE (project_id = {v0:String}) AND ((path = {v1:String}) AND (kind = 'number') AND (part = 'both') AND ((part = 'end') OR ((least > {v2:Int64}) AND (most >= {v3:Int64}) AND (least < {v4:Int64}))))
    )
)
WHERE is_end OR ((us >= {v3:Int64}) AND (us < {v4:Int64}))
ORDER BY value DESC
LIMIT {v5:UInt64}

-- first values up to one (calls.field-index-first)
-- {"v1":"e/p","v0":"x","v2":"output.score","v3":-3599000000,"v4":1000000,"v5":9000000,"v6":9}
SELECT
    pair.1 AS us,
    is_end,
    pair.2 AS value
FROM
(
    SELECT
        arrayJoin(arrayFilter((pair, x) -> (x <= {v0:String}), arrayZip(a, v), v)) AS pair,
        is_end
    FROM
    (
        SELECT
            at AS a,
            str AS v,
            part = 'end' AS is_end
        FROM callhouse.payload_leaves
        WHERE (project_id = {v1:String}) AND ((path = {v2:String}) AND (kind = 'text') AND (part = 'both') AND ((part = 'end') OR ((least > {v3:Int64}) AND (most >= {v4:Int64}) AND (least < {v5:Int64}))))
    )
)
WHERE is_end OR ((us >= {v4:Int64}) AND (us < {v5:Int64}))
ORDER BY value ASC
LIMIT {v6:UInt64}

-- values before one, and ends with it (calls.field-index-first)
-- {"v1":"e/p","v0":"x","v2":"output.score","v3":-3599000000,"v4":1000000,"v5":9000000,"v6":9}
SELECT
    pair.1 AS us,
    is_end,
    pair.2 AS value
FROM
(
    SELECT
        arrayJoin(arrayFilter((pair, x) -> ((x > {v0:String}) OR ((x = {v0:String}) AND is_end)), arrayZip(a, v), v)) AS pair,
        is_end
    FROM
    (
        SELECT
            at AS a,
            str AS v,
            part = 'end' AS is_end
        FROM callhouse.payload_leaves
        WHERE (project_id = {v1:String}) AND ((path = {v2:String}) AND (kind = 'text') AND (part = 'both') AND ((part = 'end') OR ((least > {v3:Int64}) AND (most >= {v4:Int64}) AND (least < {v5:Int64}))))
    )
)
WHERE is_end OR ((us >= {v4:Int64}) AND (us < {v5:Int64}))
ORDER BY value DESC
LIMIT {v6:UInt64}

-- first of some calls (calls.field-index-tied)
-- {"v0":"e/p","v1":["1000000","2000000"],"v2":9}
SELECT
    toString(toUnixTimestamp64Micro(started_at)),
    id
FROM callhouse.calls
WHERE (project_id = {v0:String}) AND (started_at IN (
    SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin({v1:Array(String)})), 'UTC')
))
ORDER BY id ASC
LIMIT {v2:UInt64}

-- first of one value (calls.field-index-tied)
-- {"v1":"e/p","v0":"x","v2":"output.score","v3":9}
SELECT
    toString(toUnixTimestamp64Micro(started_at)),
    key,
    toInt64(-9000000000000000000.) IN (
        SELECT us
        FROM
        (
            SELECT arrayJoin(arrayFilter(us -> (us != toInt64(-8000000000000000000.)), arrayMap((t, x) -> multiIf(x = {v0:String}, if(is_end, toInt64(-9000000000000000000.), t), x < {v0:String}, toInt64(-9000000000000000000.), toInt64(-8000000000000000000.)), a, v))) AS us
            FROM
            (
                SELECT
                    at AS a,
                    str AS v,
                    part = 'end' AS is_end
                FROM callhouse.payload_leaves
                WHERE (project_id = {v1:String}) AND ((path = {v2:String}) AND (kind = 'text') AND (part = 'both'))
            )
        )
        WHERE (us = toInt64(-9000000000000000000.)) OR (1)
    )
FROM callhouse.call_keys
WHERE (project_id = {v1:String}) AND ((kind = 'id') AND (reinterpretAsInt64(started_at) IN (
    SELECT us
    FROM
    (
        SELECT arrayJoin(arrayFilter(us -> (us != toInt64(-8000000000000000000.)), arrayMap((t, x) -> multiIf(x = {v0:String}, if(is_end, toInt64(-9000000000000000000.), t), x < {v0:String}, toInt64(-9000000000000000000.), toInt64(-8000000000000000000.)), a, v))) AS us
        FROM
        (
            SELECT
                at AS a,
                str AS v,
                part = 'end' AS is_end
            FROM callhouse.payload_leaves
            WHERE (project_id = {v1:String}) AND ((path = {v2:String}) AND (kind = 'text') AND (part = 'both'))
        )
    )
    WHERE (us = toInt64(-9000000000000000000.)) OR (1)
)))
ORDER BY key DESC
LIMIT {v3:UInt64}
SETTINGS optimize_move_to_prewhere = 0

-- values of no order (calls.field-index-unknown)
-- {"v0":"e/p","v1":"output.score","v2":"output.score.","v3":["output"],"v4":-3599000000,"v5":1000000,"v6":9000000,"v7":9}
SELECT
    us,
    is_end
FROM
(
    SELECT
        arrayJoin(at) AS us,
        part = 'end' AS is_end
    FROM callhouse.payload_leaves
    WHERE (project_id = {v0:String}) AND (((((path = {v1:String}) AND (kind IN ('long', 'hollow', 'opaque'))) OR (startsWith(path, {v2:String})) OR ((path IN ({v3:Array(String)})) AND (kind = 'opaque'))) OR ((path = {v1:String}) AND (kind = 'numeral'))) AND (part = 'both') AND ((part = 'end') OR ((least > {v4:Int64}) AND (most >= {v5:Int64}) AND (least < {v6:Int64}))))
)
WHERE is_end OR ((us >= {v5:Int64}) AND (us < {v6:Int64}))
LIMIT {v7:UInt64}
