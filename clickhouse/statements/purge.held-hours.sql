-- Hours before a time that have held calls, with what their counters are to say and what they say.
SELECT toFloat64(toUnixTimestamp(c.hour)) AS hour, toFloat64(c.n) AS calls, toFloat64(h.calls) AS counted
FROM
(
    SELECT toStartOfHour(started_at) AS hour, countIf(delete_ver = 0 AND moved = 0) AS n
    FROM callhouse.calls FINAL
    WHERE project_id = {project:String} AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    GROUP BY hour
    HAVING countIf(id IN {ids:Array(String)}) > 0
) AS c
LEFT JOIN (SELECT * FROM callhouse.call_counts_hourly FINAL WHERE project_id = {project:String}) AS h
ON h.hour = c.hour
