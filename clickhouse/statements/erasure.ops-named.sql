-- Op objects that were made for names alone and that some calls are named after, with when they came last.
SELECT object_id AS object, concat({lead:String}, object_id, ':', digest) AS ref, toString(max(clock)) AS ver
FROM callhouse.objects
WHERE project_id = {project:String} AND kind = 'op' AND digest = {digest:String}
    AND concat({lead:String}, object_id, ':', digest) IN
    (
        SELECT toString(op_name) FROM callhouse.calls WHERE project_id = {project:String} AND id IN {ids:Array(String)}
        UNION DISTINCT
        SELECT toString(op_name) FROM callhouse.call_patches WHERE project_id = {project:String} AND id IN {ids:Array(String)}
    )
GROUP BY object_id, digest
