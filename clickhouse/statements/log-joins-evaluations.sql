-- A page of evaluation results in log records that are not feedback yet, in the order of project, time and id. A record
-- that is gone has no event name.
WITH
due AS
(
    SELECT DISTINCT project_id, at, log_id FROM callhouse.log_joins
    WHERE arrived >= now() - {seconds:UInt32} AND event_name = {evaluation:String}
        AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
        AND (project_id, toUnixTimestamp64Nano(at), log_id) > ({project:String}, {after_ns:Int64}, {after:String})
),
page AS
(
    SELECT project_id, at, log_id FROM due
    WHERE (project_id, log_id) NOT IN
    (
        SELECT project_id, log_id FROM callhouse.log_joined
        WHERE (project_id, trace_id, span_id, log_id) IN (SELECT project_id, '', '', log_id FROM due)
    )
    ORDER BY project_id, at, log_id
    LIMIT {limit:UInt32}
)
SELECT
    page.project_id AS project_id, page.log_id AS id, toString(toUnixTimestamp64Nano(page.at)) AS at_ns, record.trace_id AS trace_id,
    record.span_id AS span_id, record.event_name AS event_name, record.attributes AS attributes,
    record.json_keys AS json_keys, record.body AS body, record.body_json AS body_json
FROM page
LEFT JOIN
(
    SELECT project_id, at, id, trace_id, span_id, event_name, attributes, json_keys, body, body_json
    FROM callhouse.logs
    WHERE (project_id, at, id) IN (SELECT project_id, at, log_id FROM page)
    LIMIT 1 BY project_id, at, id
) AS record ON record.project_id = page.project_id AND record.at = page.at AND record.id = page.log_id
ORDER BY project_id, page.at, id
