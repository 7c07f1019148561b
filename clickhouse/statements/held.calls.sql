-- Calls of held traces and threads, also of fragments that came alone. A trace is found by its key, a thread by a column of
-- all calls.
SELECT DISTINCT id
FROM
(
    SELECT id
    FROM callhouse.calls
    WHERE project_id = {project:String} AND trace_id IN {traces:Array(String)} AND started_at IN
    (
        SELECT started_at
        FROM callhouse.call_keys
        WHERE project_id = {project:String} AND kind = 'trace_id' AND key IN {traces:Array(String)}
    )
    UNION ALL
    SELECT id
    FROM callhouse.calls
    WHERE project_id = {project:String} AND notEmpty({threads:Array(String)}) AND thread_id IN {threads:Array(String)}
    UNION ALL
    SELECT id
    FROM callhouse.call_patches
    WHERE project_id = {project:String}
        AND (trace_id IN {traces:Array(String)} OR thread_id IN {threads:Array(String)})
)
LIMIT {limit:UInt32}
