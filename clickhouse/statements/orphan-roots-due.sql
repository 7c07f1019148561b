-- Minutes whose parts of traces were counted in a range of time; with `orphaned` those of projects with calls that stand for a
-- root.
SELECT DISTINCT project_id, toUInt32(bucket) AS minute
FROM callhouse.trace_parts
WHERE seconds = 60 AND revision > {after:UInt64} AND revision <= {until:UInt64}
    AND ({orphaned:UInt8} = 0 OR project_id IN (SELECT project_id FROM callhouse.orphan_roots FINAL WHERE is_orphan = 1))
    AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
ORDER BY project_id, minute
