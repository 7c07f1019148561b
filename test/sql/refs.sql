-- which versions live (refs.liveness)
-- {"v0":"ent/proj","v1":["model"],"v2":["d1","d2"],"v3":["model:d1","model:d2"]}
SELECT
    concat(object_id, ':', digest) AS key,
    toUInt8(maxIf(clock, event = 'created') > maxIf(clock, event = 'deleted')) AS live
FROM callhouse.object_events
WHERE (project_id = {v0:String}) AND ((object_id IN ({v1:Array(String)})) AND (digest IN ({v2:Array(String)})) AND (concat(object_id, ':', digest) IN ({v3:Array(String)})))
GROUP BY key

-- values of versions (refs.objects)
-- {"v0":"ent/proj","v1":["model"],"v2":["d1","d2"],"v3":["model:d1","model:d2"]}
SELECT
    concat(object_id, ':', digest) AS key,
    val
FROM callhouse.objects
WHERE (project_id = {v0:String}) AND ((object_id IN ({v1:Array(String)})) AND (digest IN ({v2:Array(String)})) AND (concat(object_id, ':', digest) IN ({v3:Array(String)})))
ORDER BY clock DESC
LIMIT 1 BY key

-- sizes of versions (refs.sizes)
-- {"v0":"ent/proj","v1":["model"],"v2":["d1","d2"],"v3":["model:d1","model:d2"]}
SELECT
    concat(object_id, ':', digest) AS key,
    toString(any(size_bytes)) AS size_bytes
FROM callhouse.objects
WHERE (project_id = {v0:String}) AND ((object_id IN ({v1:Array(String)})) AND (digest IN ({v2:Array(String)})) AND (concat(object_id, ':', digest) IN ({v3:Array(String)})))
GROUP BY key

-- rows of tables (refs.table-rows)
-- {"v0":"ent/proj","v1":["t1"],"v2":["r1"]}
SELECT DISTINCT
    digest AS `table`,
    row_digest AS row
FROM
(
    SELECT
        digest,
        row_digests
    FROM callhouse.table_lists
    WHERE (project_id = {v0:String}) AND (digest IN ({v1:Array(String)}))
)
ARRAY JOIN row_digests AS row_digest
WHERE row_digest IN ({v2:Array(String)})
