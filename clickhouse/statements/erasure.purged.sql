-- Rows of items of feedback that are not purges themselves.
SELECT id, toString(clock) AS clock
FROM callhouse.feedback
WHERE project_id = {project:String} AND id IN {ids:Array(String)} AND purged = 0
