-- Digests in texts of a table, those of some alone. What looks like a digest are its last letters, as an escape may stand
-- before it.
SELECT DISTINCT found
FROM
(
    SELECT arrayJoin(arrayDistinct(arrayMap(run -> right(run, 43), extractAll(${text}, '[A-Za-z0-9]{43,}')))) AS found
    FROM callhouse.${table}
    WHERE project_id = {project:String} AND (${where}) AND multiSearchAny(${text}, {digests:Array(String)})
)
WHERE found IN {digests:Array(String)}
