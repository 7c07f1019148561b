-- Part of other statements: log records that are deleted by themselves, with the call of their span, or with all calls of
-- their trace; the first delete counts. One without a time of its own has another place when it is sent again.
SELECT project_id, at, id, min(deleted) AS deleted
FROM
(
    SELECT project_id, at, id, delete_ver AS deleted
    FROM callhouse.logs_deleted
    WHERE ${where}
    UNION ALL
    SELECT log.project_id, log.at, log.id, one.deleted
    FROM
    (
        SELECT project_id, at, id
        FROM callhouse.logs
        WHERE ${where} AND at >= now() - INTERVAL 2 DAY
            AND (project_id, id) IN (SELECT project_id, id FROM callhouse.logs_deleted WHERE ${where})
    ) AS log
    INNER JOIN
    (
        SELECT project_id, id, max(delete_ver) AS deleted
        FROM callhouse.logs_deleted
        WHERE ${where}
        GROUP BY project_id, id
    ) AS one ON log.project_id = one.project_id AND log.id = one.id
    UNION ALL
    SELECT log.project_id, log.at, log.id, call.deleted
    FROM
    (
        SELECT project_id, trace_id, span_id, at, id
        FROM callhouse.logs_by_span
        WHERE ${where} AND (project_id, trace_id, span_id) IN
            (SELECT project_id, trace_id, id FROM callhouse.calls_deleted WHERE trace_id != '' AND ${where})
    ) AS log
    INNER JOIN
    (
        SELECT project_id, trace_id, id, max(delete_ver) AS deleted
        FROM callhouse.calls_deleted
        WHERE trace_id != '' AND ${where} AND NOT (${heldCall})
        GROUP BY project_id, trace_id, id
    ) AS call ON log.project_id = call.project_id AND log.trace_id = call.trace_id AND log.span_id = call.id
    UNION ALL
    SELECT log.project_id, log.at, log.id, gone.deleted
    FROM
    (
        SELECT project_id, trace_id, at, id
        FROM callhouse.logs_by_span
        WHERE ${where} AND (project_id, trace_id) IN
            (SELECT project_id, trace_id FROM callhouse.calls_deleted WHERE trace_id != '' AND ${where})
    ) AS log
    INNER JOIN (${gone}) AS gone ON log.project_id = gone.project_id AND log.trace_id = gone.trace_id
)
GROUP BY project_id, at, id
