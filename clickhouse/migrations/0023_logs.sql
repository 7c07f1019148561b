-- OTLP log records: one row per record, its id the digest of what it says; a thin copy by span.

CREATE TABLE IF NOT EXISTS callhouse.logs_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    at_ns Int64,
    observed_ns Int64,
    trace_id String,
    span_id String,
    severity UInt8,
    severity_text String,
    event_name String,
    body String,
    body_json UInt8,
    attributes Map(String, String),
    json_keys Array(String),
    resource Map(String, String),
    scope Map(String, String)
) ENGINE = Null;

-- Texts stand as they came. `json_keys` names the attributes that were no texts: theirs are JSON texts.
CREATE TABLE IF NOT EXISTS callhouse.logs
(
    project_id String,
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String CODEC(ZSTD(1)),
    clock UInt64 CODEC(Delta(8), ZSTD(1)),
    observed_at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    severity UInt8,
    severity_text LowCardinality(String),
    event_name LowCardinality(String),
    body String CODEC(ZSTD(1)),
    body_json UInt8,
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    json_keys Array(LowCardinality(String)),
    resource Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    scope Map(LowCardinality(String), String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, at, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.logs_by_span
(
    project_id String,
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String CODEC(ZSTD(1)),
    event_name LowCardinality(String)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, trace_id, span_id, at, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_logs TO callhouse.logs AS
SELECT
    project_id, fromUnixTimestamp64Nano(at_ns, 'UTC') AS at, id, clock,
    fromUnixTimestamp64Nano(observed_ns, 'UTC') AS observed_at,
    trace_id, span_id, severity, severity_text, event_name, body, body_json, attributes, json_keys, resource, scope
FROM callhouse.logs_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_by_span TO callhouse.logs_by_span AS
SELECT project_id, trace_id, span_id, fromUnixTimestamp64Nano(at_ns, 'UTC') AS at, id, event_name
FROM callhouse.logs_in
WHERE trace_id != '' OR span_id != '';
