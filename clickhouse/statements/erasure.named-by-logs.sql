-- Files, and objects that were made of texts, that some log records name; these are told in the order of their times.
SELECT DISTINCT id, digest
FROM
(
    SELECT id, arrayJoin(arrayDistinct(arrayMap(run -> right(run, 43), extractAll(concat(body, ' ', toString(attributes), ' ', toString(resource)), '[A-Za-z0-9]{43,}')))) AS digest
    FROM callhouse.logs
    WHERE project_id = {project:String} AND at >= fromUnixTimestamp64Nano({least:Int64}, 'UTC')
        AND at <= fromUnixTimestamp64Nano({most:Int64}, 'UTC') AND id IN {ids:Array(String)}
)
WHERE digest IN
(
    SELECT digest FROM callhouse.files WHERE project_id = {project:String}
    UNION ALL
    SELECT digest FROM callhouse.objects WHERE project_id = {project:String} AND ${madeOfTexts}
)
