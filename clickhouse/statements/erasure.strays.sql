-- What a table has of calls that were deleted up to an accept timestamp, and whose own rows are gone.
SELECT DISTINCT ${id} AS id
FROM callhouse.${table}
WHERE project_id = {project:String} AND (${where}) AND ${id} IN
(
    SELECT id
    FROM callhouse.call_patches
    WHERE project_id = {project:String} AND kind = 'delete' AND clock <= {until:UInt64}
)
AND ${id} NOT IN
(
    SELECT id
    FROM callhouse.calls
    WHERE project_id = {project:String} AND delete_ver > 0 AND _row_exists = 1
    UNION ALL
    SELECT id
    FROM callhouse.call_patches
    WHERE project_id = {project:String} AND kind != 'delete' AND _row_exists = 1
)
LIMIT {limit:UInt32}
SETTINGS apply_deleted_mask = 0
