-- Which of the calls are stored already, or have fragments that came before: each may need a merge.
SELECT DISTINCT project_id, id
FROM
(
    SELECT project_id, key AS id FROM callhouse.call_keys
    WHERE kind = 'id' AND (project_id, key) IN (SELECT arrayJoin(arrayZip({projects:Array(String)}, {ids:Array(String)})))
    UNION ALL
    SELECT project_id, id FROM callhouse.call_patches
    WHERE (project_id, id) IN (SELECT arrayJoin(arrayZip({projects:Array(String)}, {ids:Array(String)})))
)
