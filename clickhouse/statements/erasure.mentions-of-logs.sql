-- Which of some digests log records name, and which records.
SELECT DISTINCT id, found
FROM
(
    SELECT id, arrayJoin(arrayDistinct(arrayMap(run -> right(run, 43), extractAll(concat(body, ' ', toString(attributes), ' ', toString(resource)), '[A-Za-z0-9]{43,}')))) AS found
    FROM callhouse.logs
    WHERE project_id = {project:String}
)
WHERE found IN {digests:Array(String)}
