-- Takes rows of a log back that came too late.
ALTER TABLE callhouse.applied_positions DELETE WHERE log_id IN {ids:Array(String)} SETTINGS mutations_sync = 1
