-- Deleted calls, and purged items of feedback, that stay as they are held: how many, by the place of the erasure that asked
-- for them among `untils`.
SELECT
    toFloat64(indexOf(arrayMap(until -> deleted <= until, {untils:Array(UInt64)}), 1)) AS n,
    toString(uniqExact(what)) AS held
FROM
(
    SELECT concat('call ', id) AS what, deleted FROM (${calls})
    UNION ALL
    SELECT concat('feedback ', id), max(clock)
    FROM callhouse.feedback
    WHERE ${items}
    GROUP BY id
    HAVING max(purged) = 1 AND min(purged) = 0 AND maxIf(clock, purged = 1) + {margin:UInt64} >
    (
        SELECT max(until_ver)
        FROM callhouse.erasures FINAL
        WHERE project_id = {project:String} AND status = 'done' AND until_ver < {oldest:UInt64}
    )
)
GROUP BY n
HAVING n > 0
