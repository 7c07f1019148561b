-- Notes spans of a batch as due that have log records: those whose records came first, and spans that are sent again.
-- Evaluations are due one by one.
INSERT INTO callhouse.log_joins
SELECT due.project_id, due.trace_id, due.span_id, due.id, due.at, due.event_name, now()
FROM callhouse.logs_by_span AS due
WHERE due.event_name IN {events:Array(String)}
    AND (due.project_id, due.trace_id, due.span_id) IN
    (
        SELECT project_id, trace_id, id FROM callhouse.calls_batch
        WHERE kind = 'complete' AND ({any:UInt8} = 1 OR project_id IN {projects:Array(String)})
    )
ORDER BY due.at, due.id
LIMIT 1 BY due.project_id, due.trace_id, due.span_id, if(due.event_name = {evaluation:String}, due.id, '')
