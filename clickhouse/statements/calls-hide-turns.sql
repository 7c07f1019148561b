-- Hides finished calls of the batch in threads that they left: they were stored as a turn of another thread before.
-- The version is one below that of the newest row, which wins in its own thread.
INSERT INTO callhouse.turns
SELECT project_id, was AS thread_id, started_at, id, newest.3 AS ended_at, 1 AS hidden, top - 1 AS version
FROM
(
    SELECT
        project_id, started_at, id, argMax((thread_id, turn_id, ended_at), calls.version) AS newest,
        max(calls.version) AS top, groupUniqArrayIf(thread_id, turn_id = id AND thread_id != '') AS threads
    FROM callhouse.calls
    WHERE (project_id, started_at, id) IN (SELECT project_id, started_at, id FROM callhouse.calls_batch WHERE kind = 'complete')
    GROUP BY project_id, started_at, id
    HAVING uniqExact(calls.version) > 1
)
ARRAY JOIN threads AS was
WHERE was != newest.1 OR newest.2 != id
