-- Months in which merged calls begin.
SELECT DISTINCT toFloat64(toUnixTimestamp(toStartOfMonth(started_at))) * 1000000 AS us
FROM callhouse.calls_folded
ORDER BY us
