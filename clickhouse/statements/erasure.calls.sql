-- The next deleted calls of a project that are still stored, with the accept timestamps of the delete and of the oldest
-- fragment.
SELECT id, toString(max(deleted)) AS ver, toString(minIf(part, part > 0)) AS part
FROM (${calls})
GROUP BY id
ORDER BY id
LIMIT {limit:UInt32}
