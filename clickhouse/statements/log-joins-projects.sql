-- Projects with log records that may be joined; `responses` = some of them are evaluations that name the response of a
-- call, `turns` = some are records of coding agents that name no prompt. `seconds` = 0: of all records that are kept, else
-- of those that arrived so lately.
SELECT project_id, toUInt8(max(named)) AS responses, toUInt8(max(placed)) AS turns
FROM
(
    SELECT project_id, max(event_name = {evaluation:String} AND (trace_id = '' OR span_id = '')) AS named, 0 AS placed
    FROM callhouse.log_joins
    WHERE {seconds:UInt32} > 0 AND arrived >= now() - {seconds:UInt32}
    GROUP BY project_id
    UNION ALL
    SELECT DISTINCT project_id, 0, 0 FROM callhouse.logs_by_span
    WHERE {seconds:UInt32} = 0 AND event_name IN {events:Array(String)}
    UNION ALL
    SELECT DISTINCT project_id, 1, 0 FROM callhouse.log_evaluations WHERE {seconds:UInt32} = 0
    UNION ALL
    SELECT DISTINCT project_id, 0, 1 FROM callhouse.log_turns_due
    WHERE {seconds:UInt32} > 0 AND arrived >= now() - {seconds:UInt32}
    UNION ALL
    SELECT DISTINCT project_id, 0, 1 FROM callhouse.log_turns WHERE {seconds:UInt32} = 0
)
GROUP BY project_id
