-- Files of some digests, as they were uploaded last.
SELECT
    digest,
    toString(max(clock)) AS ver,
    toString(any(size_bytes)) AS size,
    groupUniqArrayIf(blob, blob != '') AS blobs
FROM callhouse.files
WHERE project_id = {project:String} AND digest IN {digests:Array(String)}
GROUP BY digest
