-- Whether finished rows of a segment without patches have parts elsewhere: earlier patches, or another start time in the
-- segment or, when it is looked up, in the table.
SELECT count() > 0 AS found
FROM
(
    SELECT 1 FROM callhouse.call_patches
    WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_batch)
    LIMIT 1
    UNION ALL
    SELECT 1 FROM callhouse.calls_batch GROUP BY project_id, id HAVING uniqExact(started_at) > 1 LIMIT 1
    UNION ALL
    SELECT 1 FROM callhouse.calls_by_id
    WHERE {look_up:UInt8} = 1 AND (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_batch)
    GROUP BY project_id, id, if(length(id) = 16, trace_id, '')
    HAVING uniqExact(started_at) > 1
    LIMIT 1
)
