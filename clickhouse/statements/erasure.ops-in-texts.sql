-- Which of some refs of ops stand in objects, rows of tables or feedback.
SELECT DISTINCT arrayJoin(arrayFilter(ref -> position(text, ref) > 0, {refs:Array(String)})) AS ref
FROM
(
    SELECT val AS text FROM callhouse.objects WHERE project_id = {project:String}
    UNION ALL
    SELECT val AS text FROM callhouse.table_rows WHERE project_id = {project:String}
    UNION ALL
    SELECT concat(payload, ' ', weave_ref, ' ', ifNull(runnable_ref, '')) AS text FROM callhouse.feedback
    WHERE project_id = {project:String} AND purged = 0
)
WHERE position(text, {digest:String}) > 0
