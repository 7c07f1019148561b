-- Sums the counts of some hours from those of their minutes. The version of an hour is the sum of those of its minutes: of
-- two workers that recompute at the same time, the one that read the later minutes wins.
INSERT INTO callhouse.call_counts_hourly
WITH due AS
(
    SELECT one.1 AS project_id, toDateTime(one.2, 'UTC') AS hour
    FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {buckets:Array(UInt32)})) AS one)
)
SELECT project_id, toStartOfHour(minute) AS hour, sum(calls), sum(roots), sum(position)
FROM callhouse.call_counts FINAL
WHERE (project_id, toStartOfHour(minute)) IN (SELECT project_id, hour FROM due)
GROUP BY project_id, hour
