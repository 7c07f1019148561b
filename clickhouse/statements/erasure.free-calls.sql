-- How many deleted calls of a project are stored that nothing holds, and the accept timestamp of the oldest delete.
SELECT toString(count()) AS n, toString(min(deleted)) AS oldest
FROM (${calls})
