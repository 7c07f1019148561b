-- Projects with calls that are deleted and still stored, with the accept timestamp of the oldest delete.
SELECT project_id, toString(min(deleted)) AS oldest
FROM (${calls})
GROUP BY project_id
