-- An operator takes the tables as they are: what is missing is not told any more.
INSERT INTO callhouse.missing_records (topic, log_id, partition, first, last, accepted_before, is_known)
SELECT topic, log_id, partition, first, last, accepted_before, 1 FROM callhouse.missing_records
