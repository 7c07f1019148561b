-- Which of some traces have no calls any more.
SELECT trace_id, toString(deleted) AS ver
FROM (${gone})
WHERE trace_id IN {traces:Array(String)}
