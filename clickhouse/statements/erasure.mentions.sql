-- Digests of files and objects in texts of a table, with the ids of rows where these are asked for. What looks like a digest
-- are its last letters, as an escape may stand before it.
SELECT DISTINCT owner, found
FROM
(
    SELECT
        ${owner} AS owner,
        arrayJoin(arrayDistinct(arrayMap(run -> right(run, 43), extractAll(${text}, '[A-Za-z0-9]{43,}')))) AS found
    FROM callhouse.${table}
    WHERE project_id = {project:String} AND (${where})
)
WHERE found IN ${among}
