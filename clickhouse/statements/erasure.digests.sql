-- Part of other statements: digests of the files of a project, and of its objects for which a condition holds.
SELECT digest FROM callhouse.files WHERE project_id = {project:String}
UNION ALL
SELECT digest FROM callhouse.objects WHERE project_id = {project:String} AND ${where}
