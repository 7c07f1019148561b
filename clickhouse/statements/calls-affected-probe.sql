-- What a batch without patches needs besides its rows, as bits. 1: some of its calls have fragments elsewhere (earlier
-- patches, or another start time in the batch or, when it is looked up, in the table). 2: some were stored before.
-- 4: some are spans of projects whose log records are joined.
SELECT toUInt8(groupBitOr(bits)) AS found
FROM
(
    SELECT toUInt8(1) AS bits FROM callhouse.call_patches
    WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_batch)
    LIMIT 1
    UNION ALL
    SELECT toUInt8(1) FROM callhouse.calls_batch GROUP BY project_id, id HAVING uniqExact(started_at) > 1 LIMIT 1
    UNION ALL
    SELECT toUInt8(if(uniqExact(started_at) > 1, 1, 0) + if(count() > uniqExact(started_at), 2, 0))
    FROM callhouse.call_keys
    WHERE {look_up:UInt8} = 1 AND kind = 'id' AND (project_id, key) IN (SELECT project_id, id FROM callhouse.calls_batch)
    GROUP BY project_id, key
    HAVING count() > 1
    UNION ALL
    SELECT toUInt8(4) FROM callhouse.calls_batch
    WHERE kind = 'complete' AND ({any:UInt8} = 1 OR project_id IN {projects:Array(String)})
    LIMIT 1
)
