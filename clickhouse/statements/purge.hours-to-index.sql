-- Hours with payloads before a time that are not indexed.
SELECT DISTINCT toFloat64(toUnixTimestamp(toStartOfHour(at))) AS hour
FROM callhouse.payloads
WHERE project_id = {project:String} AND at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    AND (toUnixTimestamp64Micro(at), clock) NOT IN
    (
        SELECT us, ver
        FROM callhouse.payload_chunks
        ARRAY JOIN at AS us, clock AS ver
        WHERE project_id = {project:String} AND least < {before:Int64}
    )
