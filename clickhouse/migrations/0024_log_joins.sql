-- Log records that become part of calls: which are due, by their arrival or that of their spans, and what was joined.

-- As long as `arrived` says; days go as a whole.
CREATE TABLE IF NOT EXISTS callhouse.log_joins
(
    project_id String,
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    log_id String CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    event_name LowCardinality(String),
    arrived DateTime CODEC(Delta(4), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(arrived)
ORDER BY (project_id, trace_id, span_id, log_id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- A span by its ids, or an evaluation by the id of its record. `base` is the clock of the span as it was sent, `clock` that
-- of the row which holds so many events; both grow with what is known, so the greatest clock tells the last join.
CREATE TABLE IF NOT EXISTS callhouse.log_joined
(
    project_id String,
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    log_id String CODEC(ZSTD(1)),
    base UInt64,
    clock UInt64,
    events UInt32,
    joined_at DateTime
)
ENGINE = ReplacingMergeTree(clock)
PARTITION BY toYYYYMM(joined_at)
ORDER BY (project_id, trace_id, span_id, log_id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_joins TO callhouse.log_joins AS
SELECT
    project_id, trace_id, span_id, id AS log_id, fromUnixTimestamp64Nano(at_ns, 'UTC') AS at, event_name,
    now() AS arrived
FROM callhouse.logs_in
WHERE (event_name = 'gen_ai.evaluation.result') OR (trace_id != '' AND span_id != '' AND event_name IN (
    'gen_ai.client.inference.operation.details', 'gen_ai.client.operation.exception', 'gen_ai.choice',
    'gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message', 'gen_ai.tool.message'));
