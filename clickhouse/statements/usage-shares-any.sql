-- Whether a project has spans with usage.
SELECT 1 FROM callhouse.calls
WHERE project_id = {project:String} AND length(id) = 16 AND notEmpty(usage_model)
LIMIT 1
