-- Keys whose end is recorded already.
SELECT DISTINCT target
FROM callhouse.audit_events
WHERE action = 'key.expired' AND toUnixTimestamp64Milli(at) >= {from:Int64} - 3600000
