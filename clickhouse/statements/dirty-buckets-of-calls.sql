-- Marks every minute that holds a call as dirty, at one position: before all others for a rollup that is new to the
-- installation; at the first one when nothing is covered any more, so that readers count these minutes live until then.
INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
SELECT DISTINCT project_id, 0, {position:UInt64}, toStartOfMinute(started_at)
FROM callhouse.calls
