-- Training jobs: one row per job; of a job that was accepted twice the first acceptance counts.

CREATE TABLE IF NOT EXISTS callhouse.training_jobs_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    event Enum8('training.job.created' = 1),
    user_id String,
    request_key String,
    kind Enum8('sft' = 1),
    model_id String,
    training_data_url String,
    config String,
    experimental_config String
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.training_jobs
(
    project_id String,
    id String,
    age UInt64,
    created_at DateTime64(6, 'UTC'),
    created_by LowCardinality(String),
    request_key String,
    kind Enum8('sft' = 1),
    state Enum8('queued' = 1),
    model_id String,
    training_data_url String CODEC(ZSTD(1)),
    config String CODEC(ZSTD(1)),
    experimental_config String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(age)
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.training_jobs_in_to_jobs TO callhouse.training_jobs AS
SELECT
    project_id, id, bitNot(clock) AS age,
    fromUnixTimestamp64Micro(toInt64(intDiv(clock, 1024)), 'UTC') AS created_at,
    user_id AS created_by, request_key, kind, 'queued' AS state, model_id, training_data_url, config, experimental_config
FROM callhouse.training_jobs_in
WHERE event = 'training.job.created';
