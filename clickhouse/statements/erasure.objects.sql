-- Objects of some digests that were made of texts, with the files in them.
SELECT
    digest,
    toString(max(clock)) AS ver,
    groupUniqArrayArray(arrayDistinct(arrayMap(run -> right(run, 43), extractAll(val, '[A-Za-z0-9]{43,}')))) AS files
FROM callhouse.objects
WHERE project_id = {project:String} AND digest IN {digests:Array(String)}
GROUP BY digest
HAVING min(${madeOfTexts})
