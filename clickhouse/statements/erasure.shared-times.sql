-- Hours with payloads that stay at some times.
SELECT DISTINCT toFloat64(toUnixTimestamp(toStartOfHour(at))) AS hour
FROM callhouse.payloads
WHERE project_id IN {projects:Array(String)}
    AND at IN (SELECT fromUnixTimestamp64Micro(arrayJoin({times:Array(Int64)}), 'UTC'))
