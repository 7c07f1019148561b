-- Feedback of a project that was purged since the latest erasure before, or of which there is an older version: up to when
-- its rows go.
SELECT id, argMax(purged, clock) AS is_purged, toString(max(clock) - 1 + is_purged) AS ver
FROM callhouse.feedback
WHERE project_id = {project:String}
GROUP BY id
HAVING (is_purged = 1 OR min(clock) < max(clock)) AND max(clock) + {margin:UInt64} >
(
    SELECT max(until_ver)
    FROM callhouse.erasures FINAL
    WHERE project_id = {project:String} AND status = 'done' AND until_ver < {oldest:UInt64}
)
