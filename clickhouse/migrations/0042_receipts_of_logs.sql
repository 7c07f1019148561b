-- Receipts of erasures count log records, and name every place that was looked at; receipts of before name none.
ALTER TABLE callhouse.erasures_in
    ADD COLUMN IF NOT EXISTS log_records UInt64, ADD COLUMN IF NOT EXISTS places String;
ALTER TABLE callhouse.erasures
    ADD COLUMN IF NOT EXISTS log_records UInt64, ADD COLUMN IF NOT EXISTS places String;

ALTER TABLE callhouse.erasures_in_to_erasures MODIFY QUERY
SELECT
    project_id, id, clock, status, requested_by, requested_us, deadline_us, done_us, until_ver, reason, problem,
    calls, missing, payload_rows, feedback, log_rows, dead_letters, remaining, previous, hash,
    hidden_us, selector_hmac, first_ver, files, bytes, held, log_records, places
FROM callhouse.erasures_in;
