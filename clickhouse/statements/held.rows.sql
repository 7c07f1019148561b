-- What rows of held calls are found by: traces, parents and when the calls start.
SELECT DISTINCT id, trace_id, parent_id, us
FROM
(
    SELECT id, trace_id, parent_id, toString(toUnixTimestamp64Micro(started_at)) AS us
    FROM callhouse.calls
    WHERE project_id = {project:String} AND id IN {ids:Array(String)} AND started_at IN
    (
        SELECT started_at
        FROM callhouse.call_keys
        WHERE project_id = {project:String} AND kind = 'id' AND key IN {ids:Array(String)}
    )
    UNION ALL
    SELECT id, trace_id, parent_id, toString(toUnixTimestamp64Micro(started_at))
    FROM callhouse.call_patches
    WHERE project_id = {project:String} AND id IN {ids:Array(String)} AND trace_id != ''
)
