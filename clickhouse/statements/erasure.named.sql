-- Files, and objects that were made of texts, that some calls name. What looks like a digest are its last letters, as an
-- escape may stand before it.
SELECT DISTINCT id, digest
FROM
(
    SELECT
        id,
        arrayJoin(arrayDistinct(arrayMap(run -> right(run, 43), extractAll(concat(attributes, ' ', inputs, ' ', output, ' ', summary, ' ', otel_dump), '[A-Za-z0-9]{43,}')))) AS digest
    FROM callhouse.payloads
    WHERE project_id = {project:String} AND id IN {ids:Array(String)}
)
WHERE digest IN
(
    SELECT digest FROM callhouse.files WHERE project_id = {project:String}
    UNION ALL
    SELECT digest FROM callhouse.objects WHERE project_id = {project:String} AND ${madeOfTexts}
)
