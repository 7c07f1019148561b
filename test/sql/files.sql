-- chunks of a file (files.chunks)
-- {"v0":"ent/proj","v1":"f1"}
SELECT
    chunk_index,
    n_chunks,
    size_bytes,
    blob,
    base64Encode(content) AS content
FROM callhouse.files
FINAL
WHERE (project_id = {v0:String}) AND (digest = {v1:String})
ORDER BY chunk_index ASC

-- bytes of all files (files.total)
-- {"v0":"ent/proj"}
SELECT toString(sum(size)) AS total
FROM
(
    SELECT
        digest,
        any(size_bytes) AS size
    FROM callhouse.files
    WHERE (project_id = {v0:String}) AND (chunk_index = 0)
    GROUP BY digest
)
