-- Groups of indexed values with values of payloads that are gone.
SELECT DISTINCT toString(chunk) AS chunk
FROM callhouse.payload_chunks
ARRAY JOIN at AS us, clock AS ver
WHERE project_id = {project:String} AND most < {before:Int64} AND (us, ver) NOT IN
(
    SELECT toUnixTimestamp64Micro(at), clock
    FROM callhouse.payloads
    WHERE project_id = {project:String} AND at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
)
