-- Evaluations that the server runs: one row per job; the end of a job is final.

CREATE TABLE IF NOT EXISTS callhouse.evaluation_jobs_in
(
    _record String,
    project_id String,
    call_id String,
    clock UInt64,
    event Enum8('queued' = 1, 'ended' = 2),
    job_type Enum8('evaluate_model' = 1),
    user_id String,
    evaluation_ref String,
    model_ref String
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.evaluation_jobs
(
    project_id String,
    call_id String,
    version UInt64,
    clock UInt64,
    state Enum8('queued' = 1, 'ended' = 2),
    job_type Enum8('evaluate_model' = 1),
    user_id String,
    evaluation_ref String,
    model_ref String
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, call_id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- Accept clocks leave the highest bit free: with it an end is above every creation.
CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.evaluation_jobs_in_to_jobs TO callhouse.evaluation_jobs AS
SELECT
    project_id, call_id, if(event = 'ended', bitOr(clock, 9223372036854775808), clock) AS version, clock,
    if(event = 'ended', 'ended', 'queued') AS state, job_type, user_id, evaluation_ref, model_ref
FROM callhouse.evaluation_jobs_in;
