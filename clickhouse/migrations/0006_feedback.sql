-- Feedback: the last event of each id decides; a thin copy tells which ids were given to a ref.

CREATE TABLE IF NOT EXISTS callhouse.feedback_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    event Enum8('created' = 1, 'purged' = 2),
    weave_ref String,
    user_id String,
    creator Nullable(String),
    feedback_type String,
    annotation_ref Nullable(String),
    runnable_ref Nullable(String),
    call_ref Nullable(String),
    trigger_ref Nullable(String),
    queue_id Nullable(String),
    scorer_tags Array(String),
    scorer_tag_reasons Map(String, String),
    scorer_rating_reasons Map(String, String),
    scorer_tag_confidences Map(String, Float64),
    scorer_ratings Map(String, Float64),
    scorer_rating_confidences Map(String, Float64),
    span_agent_name String,
    span_agent_version String,
    span_conversation_id String,
    span_trace_id String,
    scorer_trace_id String,
    span_status_code String,
    payload String,
    readable_payload String
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.feedback
(
    project_id String,
    id String,
    clock UInt64,
    purged UInt8,
    created_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    weave_ref String CODEC(ZSTD(1)),
    user_id LowCardinality(String),
    creator Nullable(String),
    feedback_type LowCardinality(String),
    annotation_ref Nullable(String),
    runnable_ref Nullable(String),
    call_ref Nullable(String),
    trigger_ref Nullable(String),
    queue_id Nullable(String),
    scorer_tags Array(String),
    scorer_tag_reasons Map(String, String),
    scorer_rating_reasons Map(String, String),
    scorer_tag_confidences Map(String, Float64),
    scorer_ratings Map(String, Float64),
    scorer_rating_confidences Map(String, Float64),
    span_agent_name String,
    span_agent_version String,
    span_conversation_id String,
    span_trace_id String,
    scorer_trace_id String,
    span_status_code LowCardinality(String),
    payload String CODEC(ZSTD(1)),
    readable_payload String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.feedback_by_ref
(
    project_id String,
    weave_ref String CODEC(ZSTD(1)),
    id String
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, weave_ref, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.feedback_in_to_feedback TO callhouse.feedback AS
SELECT
    project_id, id, clock, event = 'purged' AS purged,
    fromUnixTimestamp64Micro(toInt64(intDiv(clock, 1024)), 'UTC') AS created_at,
    weave_ref, user_id, creator, feedback_type, annotation_ref, runnable_ref, call_ref, trigger_ref, queue_id,
    scorer_tags, scorer_tag_reasons, scorer_rating_reasons, scorer_tag_confidences, scorer_ratings,
    scorer_rating_confidences, span_agent_name, span_agent_version, span_conversation_id, span_trace_id,
    scorer_trace_id, span_status_code, payload, readable_payload
FROM callhouse.feedback_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.feedback_in_to_by_ref TO callhouse.feedback_by_ref AS
SELECT project_id, weave_ref, id
FROM callhouse.feedback_in
WHERE event = 'created';
