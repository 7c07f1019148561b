-- Part of other statements: the condition that a fragment belongs to a hidden call that starts in a range of time, and not
-- once more where calls are seen, and is not held. Deletes stay.
NOT (${heldCall}) AND kind != 'delete' AND (project_id, id) IN (${started})
AND (project_id, id) NOT IN
(
    SELECT project_id, key
    FROM callhouse.call_keys
    WHERE project_id IN {projects:Array(String)} AND kind = 'id' AND (project_id, key) IN (${started})
        AND started_at >= fromUnixTimestamp64Micro({before:Int64}, 'UTC')
)
