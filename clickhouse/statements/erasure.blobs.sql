-- Names in blob storage of a project's files.
SELECT DISTINCT blob
FROM callhouse.files
WHERE project_id = {project:String} AND blob != ''
