-- Part of other statements: the condition that a row of a project belongs to a call that is not deleted, or that is held.
id IN {ids:Array(String)} OR id NOT IN
(
    SELECT id FROM callhouse.calls WHERE project_id = {project:String} AND delete_ver > 0
    UNION ALL
    SELECT id FROM callhouse.call_patches WHERE project_id = {project:String} AND kind = 'delete'
)
