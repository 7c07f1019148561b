-- Which of some refs of ops calls name that are not deleted, or that are held; and those with a label: somebody wants them.
SELECT DISTINCT toString(op_name) AS ref
FROM
(
    SELECT op_name, id FROM callhouse.calls WHERE project_id = {project:String} AND op_name IN {refs:Array(String)}
    UNION ALL
    SELECT op_name, id FROM callhouse.call_patches WHERE project_id = {project:String} AND op_name IN {refs:Array(String)}
)
WHERE ${stays}
UNION DISTINCT
SELECT concat({lead:String}, object_id, ':', {digest:String}) AS ref
FROM callhouse.object_labels FINAL
WHERE project_id = {project:String} AND is_set = 1
    AND concat({lead:String}, object_id, ':', {digest:String}) IN {refs:Array(String)}
