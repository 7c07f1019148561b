-- Sums the hours whose minutes were recomputed at `upto`.
INSERT INTO callhouse.call_counts_hourly
SELECT project_id, toStartOfHour(minute) AS hour, sum(calls), sum(roots), {upto:UInt64}
FROM callhouse.call_counts FINAL
WHERE (project_id, toStartOfHour(minute)) IN
(
    SELECT project_id, toStartOfHour(minute) FROM callhouse.call_marks
    WHERE position > {covered:UInt64} AND position <= {upto:UInt64}
)
GROUP BY project_id, hour
