-- Notes evaluations as due whose responses are those of calls of a batch: their records came first.
INSERT INTO callhouse.log_joins
SELECT project_id, '', '', log_id, at, {evaluation:String}, now()
FROM callhouse.log_evaluations
WHERE (project_id, response_id) IN
(
    SELECT project_id, JSONExtractString(attributes, 'response_id') AS response_id FROM callhouse.payloads
    WHERE part != 'end' AND response_id != '' AND (project_id, at, id) IN
    (
        SELECT project_id, started_at, id FROM callhouse.calls_batch
        WHERE kind IN ('complete', 'start') AND ({any:UInt8} = 1 OR project_id IN {projects:Array(String)})
    )
)
LIMIT 1 BY project_id, log_id
