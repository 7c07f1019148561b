-- Hours of a month in which hidden calls start, with how many.
SELECT toFloat64(toUnixTimestamp(toStartOfHour(started_at))) * 1000000 AS us, toFloat64(count()) AS n
FROM callhouse.calls
WHERE _partition_id = {month:String} AND project_id IN {projects:Array(String)}
    AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
GROUP BY us
ORDER BY us
