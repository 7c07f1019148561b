-- Evaluation results in log records that are not feedback yet.
SELECT project_id, id, toString(intDiv(toUnixTimestamp64Nano(at), 1000)) AS at_us, span_id, event_name, attributes, json_keys,
    body, body_json
FROM callhouse.logs
WHERE (project_id, at, id) IN
(
    SELECT project_id, at, log_id FROM callhouse.log_joins
    WHERE arrived >= now() - {seconds:UInt32} AND event_name = 'gen_ai.evaluation.result'
        AND (project_id, log_id) NOT IN (SELECT project_id, log_id FROM callhouse.log_joined WHERE log_id != '')
)
LIMIT 1 BY project_id, id
LIMIT {limit:UInt32}
