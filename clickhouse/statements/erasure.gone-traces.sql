-- Part of other statements: traces of which calls were deleted and none is left, but those that are to be removed; with the
-- accept timestamp of the last delete. A start that waits for its call counts as one.
SELECT project_id, trace_id, max(delete_ver) AS deleted
FROM callhouse.calls_deleted
WHERE trace_id != '' AND ${where} AND (project_id, trace_id) NOT IN
(
    SELECT project_id, trace_id
    FROM callhouse.calls FINAL
    WHERE ${where} AND (delete_ver = 0 OR ${heldCall}) AND moved = 0
        AND (project_id, trace_id) IN (SELECT project_id, trace_id FROM callhouse.calls_deleted WHERE trace_id != '' AND ${where})
        AND (project_id, started_at) IN
        (
            SELECT project_id, started_at
            FROM callhouse.call_keys
            WHERE ${where} AND kind = 'trace_id'
                AND (project_id, key) IN (SELECT project_id, trace_id FROM callhouse.calls_deleted WHERE trace_id != '' AND ${where})
        )
    UNION ALL
    SELECT project_id, trace_id
    FROM callhouse.call_patches
    WHERE ${where} AND kind = 'start' AND trace_id != ''
        AND (${heldCall} OR (project_id, id) NOT IN (SELECT project_id, id FROM callhouse.call_patches WHERE kind = 'delete' AND ${where}))
)
GROUP BY project_id, trace_id
