-- Log records belong to calls by their trace and span: a deleted call says in which trace it was.
ALTER TABLE callhouse.calls_deleted ADD COLUMN IF NOT EXISTS trace_id String CODEC(ZSTD(1));

ALTER TABLE callhouse.calls_deleted ADD INDEX IF NOT EXISTS of_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE callhouse.calls_to_deleted MODIFY QUERY
SELECT project_id, id, started_at, delete_ver, trace_id FROM callhouse.calls WHERE delete_ver > 0;

-- Those that were deleted before and are still stored.
INSERT INTO callhouse.calls_deleted (project_id, id, started_at, delete_ver, trace_id)
SELECT project_id, id, started_at, delete_ver, trace_id FROM callhouse.calls WHERE delete_ver > 0;

-- Log records that were deleted by themselves: a row of the topic that says so, by which the record is hidden for ever.
ALTER TABLE callhouse.logs_in ADD COLUMN IF NOT EXISTS deleted UInt8;

CREATE TABLE IF NOT EXISTS callhouse.logs_deleted
(
    project_id String,
    id String CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    delete_ver UInt64 CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree(delete_ver)
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, id, at)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_deleted TO callhouse.logs_deleted AS
SELECT project_id, id, fromUnixTimestamp64Nano(at_ns, 'UTC') AS at, clock AS delete_ver
FROM callhouse.logs_in
WHERE deleted = 1;

ALTER TABLE callhouse.logs_in_to_logs MODIFY QUERY
SELECT
    project_id, fromUnixTimestamp64Nano(at_ns, 'UTC') AS at, id, clock,
    fromUnixTimestamp64Nano(observed_ns, 'UTC') AS observed_at,
    trace_id, span_id, severity, severity_text, event_name, body, body_json, attributes, json_keys, resource, scope
FROM callhouse.logs_in
WHERE deleted = 0;
