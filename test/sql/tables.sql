-- chunks of a list (tables.chunks)
-- {"v0":"ent/proj","v1":"t1","v2":0,"v3":9}
SELECT
    chunk_index,
    toString(row_count) AS row_count,
    row_digests
FROM callhouse.table_lists
WHERE (project_id = {v0:String}) AND ((digest = {v1:String}) AND ((chunk_index >= {v2:UInt32}) AND (chunk_index <= {v3:UInt32})))
ORDER BY
    chunk_index ASC,
    age DESC
LIMIT 1 BY chunk_index

-- places of rows (tables.places)
-- {"v1":"ent/proj","v0":1000,"v2":"t1","v3":["r1","r2"]}
SELECT
    toUInt32(((chunk_index * {v0:UInt32}) + place) - 1) AS index,
    row_digest AS digest
FROM
(
    SELECT
        chunk_index,
        row_digests
    FROM callhouse.table_lists
    WHERE (project_id = {v1:String}) AND (digest = {v2:String})
    ORDER BY
        chunk_index ASC,
        age DESC
    LIMIT 1 BY chunk_index
)
ARRAY JOIN
    row_digests AS row_digest,
    arrayEnumerate(row_digests) AS place
WHERE row_digest IN ({v3:Array(String)})

-- numbers of rows (tables.counts)
-- {"v0":"ent/proj","v1":["t1","t2"]}
SELECT
    digest,
    toString(argMax(row_count, age)) AS row_count
FROM callhouse.table_lists
WHERE (project_id = {v0:String}) AND ((digest IN ({v1:Array(String)})) AND (chunk_index = 0))
GROUP BY digest

-- sizes of rows (tables.row-sizes)
-- {"v0":"ent/proj","v1":["r1","r2"]}
SELECT
    digest,
    toString(any(size_bytes)) AS size_bytes
FROM callhouse.table_rows
WHERE (project_id = {v0:String}) AND (digest IN ({v1:Array(String)}))
GROUP BY digest

-- rows (tables.rows)
-- {"v0":"ent/proj","v1":["r1","r2"]}
SELECT
    digest,
    val
FROM callhouse.table_rows
WHERE (project_id = {v0:String}) AND (digest IN ({v1:Array(String)}))
ORDER BY age DESC
LIMIT 1 BY digest

-- sizes of tables (tables.sizes)
-- {"v0":"ent/proj","v1":["t1"],"v2":0,"v3":9}
SELECT
    table_digest AS digest,
    toString(sum(size_bytes)) AS size_bytes
FROM
(
    SELECT
        digest AS table_digest,
        arrayJoin(row_digests) AS row_digest
    FROM
    (
        SELECT
            digest,
            row_digests
        FROM callhouse.table_lists
        WHERE (project_id = {v0:String}) AND ((digest IN ({v1:Array(String)})) AND ((chunk_index >= {v2:UInt32}) AND (chunk_index <= {v3:UInt32})))
        ORDER BY
            digest ASC,
            chunk_index ASC,
            age DESC
        LIMIT 1 BY
            digest,
            chunk_index
    )
) AS l
INNER JOIN
(
    SELECT
        digest AS row_digest,
        any(size_bytes) AS size_bytes
    FROM callhouse.table_rows
    WHERE (project_id = {v0:String}) AND (digest IN (
        SELECT row_digest
        FROM
        (
            SELECT
                digest AS table_digest,
                arrayJoin(row_digests) AS row_digest
            FROM
            (
                SELECT
                    digest,
                    row_digests
                FROM callhouse.table_lists
                WHERE (project_id = {v0:String}) AND ((digest IN ({v1:Array(String)})) AND ((chunk_index >= {v2:UInt32}) AND (chunk_index <= {v3:UInt32})))
                ORDER BY
                    digest ASC,
                    chunk_index ASC,
                    age DESC
                LIMIT 1 BY
                    digest,
                    chunk_index
            )
        )
    ))
    GROUP BY digest
) AS r USING (row_digest)
GROUP BY table_digest

-- a window of rows (tables.window)
-- {"v1":"ent/proj","v0":1000,"v2":"t1","v3":0,"v4":100,"v5":200}
SELECT concat(',{"digest":"', r.digest, '","val":', r.val, ',"original_index":', toString(p.index), '}')
FROM
(
    SELECT
        ((toUInt64(chunk_index) * {v0:UInt64}) + place) - 1 AS index,
        row_digest
    FROM
    (
        SELECT
            chunk_index,
            row_digests
        FROM callhouse.table_lists
        WHERE (project_id = {v1:String}) AND ((digest = {v2:String}) AND ((chunk_index >= {v3:UInt32}) AND (chunk_index <= {v3:UInt32})))
        ORDER BY
            chunk_index ASC,
            age DESC
        LIMIT 1 BY chunk_index
    )
    ARRAY JOIN
        row_digests AS row_digest,
        arrayEnumerate(row_digests) AS place
    WHERE (index >= {v4:UInt64}) AND (index < {v5:UInt64})
) AS p
INNER JOIN
(
    SELECT
        digest,
        val
    FROM callhouse.table_rows
    FINAL
    WHERE (project_id = {v1:String}) AND (digest IN (
        SELECT row_digest
        FROM
        (
            SELECT
                ((toUInt64(chunk_index) * {v0:UInt64}) + place) - 1 AS index,
                row_digest
            FROM
            (
                SELECT
                    chunk_index,
                    row_digests
                FROM callhouse.table_lists
                WHERE (project_id = {v1:String}) AND ((digest = {v2:String}) AND ((chunk_index >= {v3:UInt32}) AND (chunk_index <= {v3:UInt32})))
                ORDER BY
                    chunk_index ASC,
                    age DESC
                LIMIT 1 BY chunk_index
            )
            ARRAY JOIN
                row_digests AS row_digest,
                arrayEnumerate(row_digests) AS place
            WHERE (index >= {v4:UInt64}) AND (index < {v5:UInt64})
        )
    ))
) AS r ON p.row_digest = r.digest
ORDER BY p.index ASC
SETTINGS max_result_bytes = 37748736
