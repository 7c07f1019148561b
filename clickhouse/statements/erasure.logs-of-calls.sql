-- Log records that are calls of their own, removed ones left out: those of some ids.
SELECT DISTINCT id
FROM callhouse.logs
WHERE project_id = {project:String} AND id IN {ids:Array(String)}
