-- Marks every minute that holds a payload, before all positions: for leaves that are new to the installation.
INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
SELECT DISTINCT project_id, 0, 0, toStartOfMinute(at)
FROM callhouse.payloads
