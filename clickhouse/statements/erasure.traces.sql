-- Traces of some calls. Of some calls there are fragments alone.
SELECT DISTINCT trace_id, id
FROM
(
    SELECT trace_id, id FROM callhouse.calls WHERE project_id = {project:String} AND id IN {ids:Array(String)}
    UNION ALL
    SELECT trace_id, id FROM callhouse.call_patches WHERE project_id = {project:String} AND id IN {ids:Array(String)}
)
WHERE trace_id != ''
