-- Puts the seconds of some minutes together; a trace then has an entry for each second of it. The minute has the revision of
-- the recompute, which tells that it is made of its seconds (buckets-due).
INSERT INTO callhouse.trace_parts
WITH due AS
(
    SELECT one.1 AS project_id, toDateTime(one.2, 'UTC') AS minute
    FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {buckets:Array(UInt32)})) AS one)
)
SELECT
    project_id, 60, minute, {revision:UInt64}, sum(p.calls), groupArrayArray(p.trace), groupArrayArray(p.spans),
    groupArrayArray(p.errors), groupArrayArray(p.running), groupArrayArray(arrayMap(at -> toUInt32(at + later), p.begun)),
    groupArrayArray(arrayMap(at -> at + later, p.ended)), groupArrayArray(arrayMap(at -> toUInt32(if(at = 0, 0, at + later)), p.root_at)),
    groupArrayArray(p.has_top), groupArrayArray(p.top_input), groupArrayArray(p.top_output), groupArrayArray(p.top_total),
    groupArrayArray(p.other_input), groupArrayArray(p.other_output), groupArrayArray(p.other_total),
    groupArrayArray(p.usage_trace), groupArrayArray(p.usage_model), groupArrayArray(p.usage_top), groupArrayArray(p.usage_input),
    groupArrayArray(p.usage_output), groupArrayArray(p.usage_inside), groupArrayArray(p.usage_apart),
    groupArrayArray(p.usage_billed_read), groupArrayArray(p.usage_billed_write), groupArrayArray(p.usage_billed_write_1h),
    groupArrayArray(p.usage_more_output)
FROM
(
    SELECT *, toStartOfMinute(bucket) AS minute, toSecond(bucket) * 1000000 AS later
    FROM callhouse.trace_parts FINAL
    WHERE seconds = 1 AND (project_id, toStartOfMinute(bucket)) IN (SELECT project_id, minute FROM due)
) AS p
GROUP BY project_id, minute
