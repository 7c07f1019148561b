-- How many items of feedback calls have, removed ones included: those that were purged are counted by what purged them.
SELECT ref AS weave_ref, toString(count()) AS n
FROM
(
    SELECT argMax(feedback.weave_ref, clock) AS ref
    FROM callhouse.feedback
    WHERE project_id = {project:String} AND id IN
    (
        SELECT id
        FROM callhouse.feedback
        WHERE project_id = {project:String} AND weave_ref IN {refs:Array(String)}
    )
    GROUP BY id
    HAVING argMax(purged, clock) = 0
)
WHERE ref IN {refs:Array(String)}
GROUP BY ref
SETTINGS apply_deleted_mask = 0
