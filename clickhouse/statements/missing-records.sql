-- Topics of the current logs whose older records are missing, and the time before which these were accepted.
SELECT topic, toFloat64(max(toUnixTimestamp64Milli(accepted_before))) AS beforeMs
FROM (SELECT * FROM callhouse.missing_records FINAL)
WHERE is_known = 0 AND log_id IN {ids:Array(String)}
GROUP BY topic ORDER BY topic
