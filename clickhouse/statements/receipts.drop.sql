-- Removes erasures with what they were before they were done, which would count again otherwise.
DELETE FROM callhouse.erasures
WHERE project_id IN {projects:Array(String)} AND id IN {ids:Array(String)}
