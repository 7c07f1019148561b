-- Which of some files objects name that were made of texts.
SELECT
    digest AS object,
    arrayIntersect(arrayDistinct(arrayMap(run -> right(run, 43), extractAll(val, '[A-Za-z0-9]{43,}'))), {digests:Array(String)}) AS files
FROM callhouse.objects
WHERE project_id = {project:String} AND ${madeOfTexts} AND notEmpty(files)
