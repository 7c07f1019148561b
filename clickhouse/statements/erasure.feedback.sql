-- How many items of feedback calls have, removed ones included.
SELECT weave_ref, toString(uniqExact(id)) AS n
FROM callhouse.feedback
WHERE project_id = {project:String} AND weave_ref IN {refs:Array(String)}
GROUP BY weave_ref
SETTINGS apply_deleted_mask = 0
