-- Acknowledges missing records: an operator accepted the tables as they are, and they are no longer reported.
INSERT INTO callhouse.missing_records (topic, log_id, partition, first, last, accepted_before, is_known)
SELECT topic, log_id, partition, first, last, accepted_before, 1 FROM callhouse.missing_records
