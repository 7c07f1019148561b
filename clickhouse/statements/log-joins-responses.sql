-- Calls by their response id, around the times of the log records that name them.
SELECT id, JSONExtractString(attributes, 'response_id') AS response_id
FROM callhouse.payloads
WHERE project_id = {project:String} AND part != 'end'
    AND at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND at <= fromUnixTimestamp64Micro({upTo:Int64}, 'UTC')
    AND JSONExtractString(attributes, 'response_id') IN {responses:Array(String)}
ORDER BY at, id
LIMIT 1 BY response_id
