-- Marks every minute that holds a call, before all positions: for a rollup that is new to the installation.
INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
SELECT DISTINCT project_id, 0, 0, toStartOfMinute(started_at)
FROM callhouse.calls
