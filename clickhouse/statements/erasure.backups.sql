-- Backups that were made, or begun, since a time.
SELECT toFloat64(toUnixTimestamp64Milli(max(at))) AS ms
FROM callhouse.audit_events
WHERE scope = '*' AND action IN ('backup.started', 'backup.ended') AND at >= fromUnixTimestamp64Micro({first:Int64})
GROUP BY target
ORDER BY ms DESC
