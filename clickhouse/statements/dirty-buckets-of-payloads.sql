-- Marks every minute that holds a payload as dirty, at one position, as dirty-buckets-of-calls does for calls.
INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
SELECT DISTINCT project_id, 0, {position:UInt64}, toStartOfMinute(at)
FROM callhouse.payloads
