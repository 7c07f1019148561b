-- Hides calls in threads that they left by the merge. Runs before the merged rows go into the table, while the rows of
-- the old threads can still be found. The version is one below that of the merged row, which wins in its own thread.
INSERT INTO callhouse.turns
SELECT f.project_id, was.thread_id, f.started_at, f.id, f.ended_at, 1, f.version - 1
FROM
(
    SELECT project_id, started_at, id, thread_id
    FROM callhouse.calls
    WHERE started_at IN (SELECT started_at FROM callhouse.calls_folded)
        AND (project_id, started_at, id) IN (SELECT project_id, started_at, id FROM callhouse.calls_folded)
        AND turn_id = id AND thread_id != ''
    UNION DISTINCT
    SELECT project_id, started_at, id, thread_id
    FROM callhouse.calls_batch
    WHERE kind = 'complete' AND turn_id = id AND thread_id != ''
) AS was
INNER JOIN callhouse.calls_folded AS f
    ON f.project_id = was.project_id AND f.started_at = was.started_at AND f.id = was.id
WHERE f.thread_id != was.thread_id OR f.turn_id != f.id
