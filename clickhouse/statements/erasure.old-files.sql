-- Files of a project, and objects that were made of texts, that came before a time and not since.
SELECT digest
FROM callhouse.files
WHERE project_id = {project:String}
GROUP BY digest
HAVING max(clock) < {before:UInt64}
UNION DISTINCT
SELECT digest
FROM callhouse.objects
WHERE project_id = {project:String} AND ${madeOfTexts}
GROUP BY digest
HAVING max(clock) < {before:UInt64}
