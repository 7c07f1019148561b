-- Digests of files and objects in texts of a table, where they are too many to be searched for.
SELECT DISTINCT found
FROM
(
    SELECT arrayJoin(arrayDistinct(arrayMap(run -> right(run, 43), extractAll(${text}, '[A-Za-z0-9]{43,}')))) AS found
    FROM callhouse.${table}
    WHERE project_id = {project:String} AND (${where})
)
WHERE found IN
(
    SELECT digest FROM callhouse.files WHERE project_id = {project:String}
    UNION ALL
    SELECT digest FROM callhouse.objects WHERE project_id = {project:String}
)
