-- The receipt before the next one of a project: each holds the hash of the one before.
SELECT hash
FROM callhouse.erasures FINAL
WHERE project_id = {project:String} AND status = 'done'
ORDER BY done_us DESC, id DESC
LIMIT 1
