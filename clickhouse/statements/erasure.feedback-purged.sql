-- Feedback of a project that was purged since the latest erasure before.
SELECT id, toString(max(clock)) AS ver
FROM callhouse.feedback
WHERE project_id = {project:String} AND purged = 1 AND clock + {margin:UInt64} >
(
    SELECT max(until_ver)
    FROM callhouse.erasures FINAL
    WHERE project_id = {project:String} AND status = 'done' AND until_ver < {oldest:UInt64}
)
GROUP BY id
