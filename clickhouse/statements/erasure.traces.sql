-- Traces of some calls, and times at which payloads of theirs may lie. Of some calls there are fragments alone.
SELECT id, trace_id, groupUniqArrayArray(arrayFilter(us -> us > 0, arrayMap(at -> toFloat64(toUnixTimestamp64Micro(at)), ats))) AS times
FROM
(
    SELECT id, trace_id, [started_at, output_at] AS ats
    FROM callhouse.calls
    WHERE project_id = {project:String} AND id IN {ids:Array(String)}
    UNION ALL
    SELECT id, trace_id, [started_at, output_at] AS ats
    FROM callhouse.call_patches
    WHERE project_id = {project:String} AND id IN {ids:Array(String)}
)
GROUP BY id, trace_id
