-- Objects, and rows of tables, with refs to calls that were deleted for an erasure.
WITH
    (
        SELECT groupArray(id)
        FROM callhouse.call_patches
        WHERE project_id = {project:String} AND kind = 'delete' AND clock <= {until:UInt64} AND clock >
        (
            SELECT max(until_ver)
            FROM callhouse.erasures FINAL
            WHERE project_id = {project:String} AND until_ver < {until:UInt64}
        )
    ) AS erased
SELECT DISTINCT place
FROM
(
    SELECT concat(toString(kind), ' ', object_id, ':', digest) AS place, val
    FROM callhouse.objects
    WHERE project_id = {project:String} AND position(val, {lead:String}) > 0
    UNION ALL
    SELECT concat('row ', digest) AS place, val
    FROM callhouse.table_rows
    WHERE project_id = {project:String} AND position(val, {lead:String}) > 0
)
WHERE hasAny(arrayMap(piece -> extract(piece, '^[^"\\\\/?#]+'), arraySlice(splitByString({lead:String}, val), 2)), erased)
ORDER BY place
