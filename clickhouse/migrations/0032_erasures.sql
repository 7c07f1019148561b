-- Erasures: one row each, the newest event decides; once it is done the row is the receipt.

CREATE TABLE IF NOT EXISTS callhouse.erasures_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    status Enum8('accepted' = 1, 'removing' = 2, 'verifying' = 3, 'done' = 4, 'held' = 5, 'failed' = 6),
    requested_by String,
    requested_us Int64,
    deadline_us Int64,
    done_us Int64,
    until_ver UInt64,
    reason String,
    problem String,
    calls UInt64,
    missing UInt64,
    payload_rows UInt64,
    feedback UInt64,
    log_rows UInt64,
    dead_letters UInt64,
    remaining String,
    previous String,
    hash String
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.erasures
(
    project_id String,
    id String,
    clock UInt64,
    status Enum8('accepted' = 1, 'removing' = 2, 'verifying' = 3, 'done' = 4, 'held' = 5, 'failed' = 6),
    requested_by String,
    requested_us Int64,
    deadline_us Int64,
    done_us Int64,
    until_ver UInt64,
    reason String,
    problem String,
    calls UInt64,
    missing UInt64,
    payload_rows UInt64,
    feedback UInt64,
    log_rows UInt64,
    dead_letters UInt64,
    remaining String,
    previous String,
    hash String
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.erasures_in_to_erasures TO callhouse.erasures AS
SELECT
    project_id, id, clock, status, requested_by, requested_us, deadline_us, done_us, until_ver, reason, problem,
    calls, missing, payload_rows, feedback, log_rows, dead_letters, remaining, previous, hash
FROM callhouse.erasures_in;
