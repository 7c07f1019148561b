-- Marks every minute of a range that holds calls, or payloads of ends that came alone, as dirty: its counts are lost.
INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
SELECT DISTINCT project_id, {partition:UInt32}, {position:UInt64}, toStartOfMinute(time)
FROM
(
    SELECT project_id, started_at AS time FROM callhouse.calls
    WHERE started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    UNION ALL
    SELECT project_id, at AS time FROM callhouse.payloads
    WHERE part = 'end' AND at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
)
