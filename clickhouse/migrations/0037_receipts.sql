-- What receipts of erasures say besides: when what was asked for was hidden, what was asked for as a keyed hash, files, and
-- how many calls are held. `first_ver` is the accept timestamp of the first of the calls: backups since then hold some.
ALTER TABLE callhouse.erasures_in
    ADD COLUMN IF NOT EXISTS hidden_us Int64, ADD COLUMN IF NOT EXISTS selector_hmac String,
    ADD COLUMN IF NOT EXISTS first_ver UInt64, ADD COLUMN IF NOT EXISTS files UInt64,
    ADD COLUMN IF NOT EXISTS bytes UInt64, ADD COLUMN IF NOT EXISTS held UInt64;
ALTER TABLE callhouse.erasures
    ADD COLUMN IF NOT EXISTS hidden_us Int64, ADD COLUMN IF NOT EXISTS selector_hmac String,
    ADD COLUMN IF NOT EXISTS first_ver UInt64, ADD COLUMN IF NOT EXISTS files UInt64,
    ADD COLUMN IF NOT EXISTS bytes UInt64, ADD COLUMN IF NOT EXISTS held UInt64;

ALTER TABLE callhouse.erasures_in_to_erasures MODIFY QUERY
SELECT
    project_id, id, clock, status, requested_by, requested_us, deadline_us, done_us, until_ver, reason, problem,
    calls, missing, payload_rows, feedback, log_rows, dead_letters, remaining, previous, hash,
    hidden_us, selector_hmac, first_ver, files, bytes, held
FROM callhouse.erasures_in;
