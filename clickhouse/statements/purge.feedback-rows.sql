-- Removes feedback about calls.
DELETE FROM callhouse.${table}
WHERE project_id = {project:String} AND id IN {ids:Array(String)} AND weave_ref IN {refs:Array(String)}
