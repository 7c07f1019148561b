-- Calls that were a turn of a thread and, folded, are none of that thread any more: hidden there from this version on.
-- Runs before the folded rows go into the table, while the rows that were turns are still to be found. One version below
-- the folded row, so that the thread that it may be a turn of now is the newest.
INSERT INTO callhouse.turns
SELECT f.project_id, was.thread_id, f.started_at, f.id, f.ended_at, 1, f.version - 1
FROM
(
    SELECT project_id, started_at, id, thread_id
    FROM callhouse.calls
    WHERE (project_id, started_at, id) IN (SELECT project_id, started_at, id FROM callhouse.calls_folded)
        AND turn_id = id AND thread_id != ''
    UNION DISTINCT
    SELECT project_id, started_at, id, thread_id
    FROM callhouse.calls_batch
    WHERE kind = 'complete' AND turn_id = id AND thread_id != ''
) AS was
INNER JOIN callhouse.calls_folded AS f
    ON f.project_id = was.project_id AND f.started_at = was.started_at AND f.id = was.id
WHERE f.thread_id != was.thread_id OR f.turn_id != f.id
