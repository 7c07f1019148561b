-- Hours that hold calls, or payloads of ends that came alone, and how many.
SELECT toFloat64(toUnixTimestamp(toStartOfHour(time))) * 1000000 AS us, toFloat64(count()) AS n
FROM
(
    SELECT started_at AS time FROM callhouse.calls
    UNION ALL
    SELECT at FROM callhouse.payloads WHERE part = 'end'
)
GROUP BY us
HAVING us >= {from:Int64}
ORDER BY us
